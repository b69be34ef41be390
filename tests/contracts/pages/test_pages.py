"""What everything that works on pages does, whatever process it does it in."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from agent.pipeline.messages.pages import Fetched, Links, PageWork, Processed
from shared.archive.capture import IDENTICAL_PAYLOAD, Capture, Revisit
from shared.archive.cdxj import IndexEntry
from shared.archive.encode import EncodedCapture, payload_digest
from tests.contracts.pages.case import (
    HTML,
    OPTIONS,
    Make,
    Remarks,
    all_done,
    forked,
    inline,
    page,
    rules,
    run,
    started,
)
from tests.contracts.pages.program import work

KINDS: dict[str, Make] = {
    "in this process": inline,
    "in worker processes": started,
    "in forked ones": forked,
}


@pytest.fixture(params=sorted(KINDS))
def make(request: pytest.FixtureRequest) -> Make:
    """One kind of page worker."""
    return KINDS[request.param]


def odd_pages() -> list[Fetched]:
    """Return pages that use every field that a page can have."""
    whole = page(1)
    capture = whole.capture
    japanese = "<meta name=robots content=noindex><a href='/日?q=本'><a href=//b.example:81/>"
    return [
        whole,
        page(2, japanese.encode()),
        page(3, b""),
        page(4, bytes(range(256)) * 20),
        rules(5),
        dataclasses.replace(
            page(6),
            capture=dataclasses.replace(
                page(6).capture, truncated="length", ip=None, request=b"", extra={"X-A": "b"}
            ),
        ),
        dataclasses.replace(
            page(7),
            capture=dataclasses.replace(
                capture,
                url=page(7).url,
                body=b"",
                payload_digest="sha256:" + "0" * 64,
                revisit=Revisit("identical-payload-digest", "http://a.example/o", 5),
            ),
        ),
        dataclasses.replace(
            page(8), capture=dataclasses.replace(page(8).capture, response_header=b"ICY\r\n\r\n")
        ),
        dataclasses.replace(
            page(9),
            capture=dataclasses.replace(
                page(9).capture,
                response_header=b'HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nETag: "e"\r\n\r\n',
            ),
        ),
        perhaps_unchanged(10, payload_digest(b"<a href=x>")),
        perhaps_unchanged(11, payload_digest(b"another")),
        dataclasses.replace(page(12, b"<p style='a:url(x)'><a href=y>"), link_kind=0x85),
        dataclasses.replace(
            page(13, "<html lang=ja><p>日本語のページ<a href=y>".encode()), asks_language=True
        ),
    ]


def perhaps_unchanged(number: int, digest: str) -> Fetched:
    """Return a page that asks whether its body is that of an earlier capture."""
    one = page(number)
    capture = dataclasses.replace(
        one.capture, payload_digest=digest, revisit=Revisit(IDENTICAL_PAYLOAD, one.url, 5)
    )
    return dataclasses.replace(one, capture=capture)


def test_the_work_is_what_the_program_makes_of_the_page(make: Make) -> None:
    """Nothing is lost or changed on the way to where the work is done, nor on the way back."""
    pages = odd_pages()
    assert run(make, pages) == {one.url: work(one, "") for one in pages}


def test_each_page_is_done_once(make: Make) -> None:
    """Many pages of many hosts, large and small: every one is done, and none twice."""
    pages = [page(n, b"<a href=y>" * (n * 7 % 300), f"h{n % 7}.example") for n in range(500)]
    assert set(run(make, pages)) == {one.url for one in pages}


@pytest.mark.parametrize("half", [b"", b"later "])
def test_a_page_whose_work_fails_is_archived_with_a_note(make: Make, half: bytes) -> None:
    """A defect of ours in either half costs the links of one page, and is shown."""
    remarks = Remarks()
    pages = [page(1), page(2, half + b"raise x"), page(3)]
    done = run(make, pages, remarks=remarks)
    assert done[pages[1].url].processed.note.startswith("parse-error: KeyError")
    assert done[pages[1].url].links.urls == ()
    assert done[pages[1].url].processed.encoded.data
    assert [done[pages[n].url].links.urls for n in (0, 2)] == [("http://a.example/d/x",)] * 2
    assert any(
        reason.startswith("pages not read: parse-error") and example == pages[1].url
        for reason, example in remarks.said
    )


def test_after_closing_nothing_is_done(make: Make) -> None:
    """A clean stop: no work arrives at modules that are gone."""

    async def scenario() -> int:
        door = make(OPTIONS, Remarks())
        await all_done(door, [page(1)])
        late: list[PageWork] = []
        for number in range(2, 40):
            door.start(page(number), late.append)
        before = len(late)
        door.close()
        await asyncio.sleep(0.3)
        return len(late) - before

    assert asyncio.run(scenario()) == 0


def test_nothing_waits_where_there_is_nothing(make: Make) -> None:
    """A page worker that has little to do asks for no pause in fetching."""

    async def scenario() -> bool:
        door = make(OPTIONS, Remarks())
        await all_done(door, [page(1)])
        crowded = door.crowded
        door.close()
        return crowded

    assert not asyncio.run(scenario())


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (
            Fetched,
            "capture url host address job depth redirects is_rules link_kind asks_language",
        ),
        (
            Capture,
            (
                "url fetched_at_ms request response_header body ip truncated payload_digest "
                "revisit extra"
            ),
        ),
        (Revisit, "profile refers_to_uri refers_to_date_ms"),
        (PageWork, "processed links"),
        (Processed, "encoded url host address job is_rules outward note validators"),
        (EncodedCapture, "data entry"),
        (IndexEntry, "urlkey surt url fetched_at_ms mime status digest offset length"),
        (
            Links,
            "urls referer from_job depth redirects content chain again kinds is_embedded language",
        ),
    ],
)
def test_every_field_crosses(kind: type, fields: str) -> None:
    """A field that is added must be added to the wire, and then here and to the odd pages."""
    assert [field.name for field in dataclasses.fields(kind)] == fields.split()


def test_the_pages_header_is_html() -> None:
    """The other tests rest on it: a page that is read has links."""
    assert b"text/html" in HTML
