"""Pages built to stop whoever reads them, given to the real page workers."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent.app.startup.page_work import page_worker
from agent.app.startup.settings_mapping import page_limits
from agent.modules.page.work import work_on
from agent.pipeline.messages.pages import Fetched, PageWork
from agent.settings import Settings
from shared.archive.capture import Capture

pytestmark = pytest.mark.e2e

SITE = Settings(home=Path("/nowhere"))
ATTRIBUTES = b" ".join(b"a%d=1" % number for number in range(60_000))
BODY = b"<!doctype html><title>x</title>"
LINK = b"<a href=/found>x</a>"

BOMBS: dict[str, bytes] = {
    "60,000 attributes": BODY + b"<p " + ATTRIBUTES + b">" + LINK,
    "60,000 attributes, in two tags": BODY + b"<p " + ATTRIBUTES.replace(b" ", b"\n", 1) + b"><p>",
    "60,000 nested div": BODY + b"<div>" * 60_000 + LINK,
    "60,000 nested b": BODY + b"<b>" * 60_000 + LINK,
    "nested tables": BODY + b"<table><tr><td>" * 30_000 + LINK,
    "text in tables": BODY + b"<table>" + b"x<tr>" * 200_000 + LINK,
    "misnested formatting": BODY + b"<a href=/x><p>" * 40_000 + LINK,
    "formatting never closed": BODY + b"<b><i><u>" * 1000 + b"<p>x" * 5000 + LINK,
    "nested lists": BODY + b"<ul><li>" * 60_000 + LINK,
    "nested templates": BODY + b"<template>" * 30_000 + LINK,
    "nested svg": BODY + b"<svg><g>" * 40_000 + LINK,
    "nested select": BODY + b"<select><option>" * 60_000 + LINK,
    "huge srcset": BODY + b"<img srcset='" + b"/a 1x," * 500_000 + b"'>" + LINK,
    "srcset of parentheses": BODY + b"<img srcset='/a " + b"(" * 3_000_000 + b"'>" + LINK,
    "megabytes of links": BODY + b"".join(b"<a href=/%d>" % n for n in range(300_000)),
    "the same link again and again": BODY + b"<a href=/found>" * 300_000,
    "links of 8,000 characters": BODY + (b"<a href='/" + b"../x%20" * 1000 + b"'>") * 1000,
    "deep entities": BODY + b"<a href='" + b"&amp;" * 1_000_000 + b"'>" + LINK,
    "numeric references": BODY + b"<p>" + b"&#x41;" * 1_500_000 + LINK,
    "references without end": BODY + b"&" * 5_000_000 + LINK,
    "nothing but <": b"<" * 5_000_000,
    "comments never closed": BODY + b"<!--" * 1_000_000 + LINK,
    "a doctype without end": b"<!doctype " + b"x" * 5_000_000,
    "meta refresh of spaces": BODY + b"<meta http-equiv=refresh content='0" + b" " * 3_000_000,
    "bytes of no encoding": bytes(range(128, 256)) * 60_000 + LINK,
    "kana in cp932 unsaid": "かな".encode("cp932") * 1_000_000 + LINK,
    "shifts of ISO-2022-JP": b"<meta charset=iso-2022-jp>" + b"\x1b$B\x1b(B" * 800_000 + LINK,
    "UTF-16 with a mark": b"\xff\xfe" + ("<a href=/found>" * 100_000).encode("utf-16-le"),
    "astral characters": ("𠮷" * 4_000_000).encode() + LINK,
    "GB 18030 of four bytes": b"<meta charset=gb18030>" + b"\x81\x30\x81\x30" * 1_500_000 + LINK,
}

HEADERS: dict[str, bytes] = {
    "Link": b"Link: " + b"<" * 60_000,
    "Link of parameters": b"Link: <a>" + b"; a=b" * 12_000,
    "Refresh": b"Refresh: 0" + b" ;" * 30_000,
    "X-Robots-Tag": b"X-Robots-Tag: " + b"a:" * 30_000,
    "Content-Type": b"Content-Type: text/html" + b"; a=b" * 12_000,
    "Content-Encoding": b"Content-Encoding: " + b"gzip, " * 10_000,
}


def fetched(name: str, body: bytes, more: bytes = b"", host: str = "") -> Fetched:
    host = host or f"h{sum(name.encode())}-{len(name)}.example"
    url = f"http://{host}/{sum(name.encode())}"
    header = b"HTTP/1.1 200 OK\r\n" + more + b"\r\nContent-Type: text/html\r\n\r\n"
    capture = Capture(url, 1, b"", header.replace(b"\r\n\r\nC", b"\r\nC"), body, "192.0.2.1")
    return Fetched(capture, url, f"http://{host}:80/", "192.0.2.1", 1, 0, 0)


@dataclass
class Outcome:
    """What became of the pages, by URL, and what was said."""

    works: dict[str, PageWork] = field(default_factory=dict)
    remarks: list[tuple[str, str]] = field(default_factory=list)
    replaced: int = 0


def work_through(pages: list[Fetched], settings: Settings = SITE) -> Outcome:
    """Give pages to the workers that the agent would have."""
    outcome = Outcome()

    async def scenario() -> None:
        worker = page_worker(settings, lambda *said: outcome.remarks.append(said))
        over = asyncio.Event()

        def take(work: PageWork) -> None:
            assert work.processed.url not in outcome.works
            outcome.works[work.processed.url] = work
            if len(outcome.works) == len(pages):
                over.set()

        for page in pages:
            worker.start(page, take)
        async with asyncio.timeout(250):
            await over.wait()
        worker.close()

    asyncio.run(scenario())
    return outcome


def good(number: int) -> Fetched:
    return fetched(f"good {number}", BODY + LINK, host=f"good{number}.example")


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_itself_only(name: str) -> None:
    """It is archived whole, read or with the reason why not; pages beside it are read."""
    bomb = fetched(name, BOMBS[name])
    pages = [good(1), bomb, good(2)]
    outcome = work_through(pages)
    for page in (pages[0], pages[2]):
        found = outcome.works[page.url].links.urls
        assert [url.rpartition("/")[2] for url in found] == ["found"]
    work = outcome.works[bomb.url]
    note = work.processed.note
    stopped = note.startswith(("parse-timeout", "parse-memory", "parse-crash"))
    assert not note.startswith("parse-error")
    assert stopped == bool(outcome.remarks)
    expected = work_on(bomb, page_limits(SITE), note) if stopped else None
    assert expected is None or work == expected
    assert work.processed.encoded.entry.url == bomb.url


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_built_to_stop_its_reader_does_not(name: str) -> None:
    """Sixty kilobytes of a field are read in a moment."""
    page = fetched(name, BODY + LINK, HEADERS[name])
    work = work_through([page]).works[page.url]
    assert not work.processed.note.startswith("parse-")


def test_a_body_that_unpacks_without_end_is_cut() -> None:
    """A gzip bomb is decoded up to the limit of the settings."""
    packed = gzip.compress(LINK + b"\0" * 60_000_000, 1)
    page = fetched("gzip", packed, b"Content-Encoding: gzip")
    work = work_through([page]).works[page.url]
    assert "more than 20000000 bytes decoded" in work.processed.note


def test_a_host_of_bombs_is_set_aside() -> None:
    """The third one is enough: what follows of the host is archived unread, others are read."""
    limited = replace(SITE, pages=replace(SITE.pages, page_cpu_s=0.1, workers=1))
    many = BOMBS["megabytes of links"]
    bombs = [fetched(f"bomb {n}", many, host="bad.example") for n in range(6)]
    outcome = work_through([*bombs, good(1)], limited)
    notes = [outcome.works[bomb.url].processed.note for bomb in bombs]
    assert {note[:6] for note in notes} == {"parse-"}
    assert outcome.works[good(1).url].links.urls
    reasons = {reason for reason, _ in outcome.remarks}
    assert "hosts whose pages are no longer read" in reasons
