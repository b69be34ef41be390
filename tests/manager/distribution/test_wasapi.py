"""WASAPI lists what is public, by the filters of the specification."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.manager.archived import collected, page
from tests.manager.asgi import Caller
from tests.manager.running import START_MS, Agent, Running

LIST = "/wasapi/v1/webdata"
DAY_MS = 86_400_000


@pytest.fixture
def three(prsm: Running, agent: Agent) -> None:
    """Let three segments come, a day between their captures."""
    for number in range(3):
        moment = START_MS - (2 - number) * DAY_MS
        collected(prsm, agent, [page(at_ms=moment)], f"s{number}.warc.gz")
        prsm.clock.advance(1)


def names(answer: dict[str, object]) -> list[str]:
    files = answer["files"]
    assert isinstance(files, list)
    return [file["filename"] for file in files]


@pytest.mark.usefixtures("three")
def test_pages_lead_on(library: Caller) -> None:
    """Each page says how many fit in all and where the next one is."""
    first = library.get(f"{LIST}?page_size=2").json()
    assert (first["count"], first["previous"]) == (3, None)
    assert names(first) == ["s0-a.example.warc.gz", "s1-a.example.warc.gz"]
    following = urlsplit(first["next"])
    assert following.netloc == "127.0.0.1"
    last = library.get(f"{following.path}?{following.query}").json()
    assert (names(last), last["next"]) == (["s2-a.example.warc.gz"], None)
    file = last["files"][0]
    assert set(file["checksums"]) == {"md5", "sha1", "sha256"}
    assert library.get(urlsplit(file["locations"][0]).path).status_code == 200


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [0, 1, 2]),
        ("filename=s1-a.example.warc.gz", [1]),
        ("filename=s1", []),
        ("filetype=warc", [0, 1, 2]),
        ("filetype=wat", []),
        ("collection=1&collection=7", [0, 1, 2]),
        ("collection=7", []),
        ("crawl=2", [1]),
        ("crawl-time-after=2026-09-20T13:33:20Z", [1, 2]),
        ("crawl-time-before=2026-09-20T13:33:20Z", [0]),
        ("crawl-start-after=2026-09-21", [2]),
        ("crawl-time-after=2026-09&crawl-time-before=2026-10", [0, 1, 2]),
        ("store-time-after=2027", []),
        ("crawl-time-after=2026-09-20T22:33:20%2B09:00", [1, 2]),
    ],
)
def test_filters(library: Caller, query: str, found: list[int]) -> None:
    """after is inclusive, before is not; short dates begin their year, month or day."""
    answer = library.get(f"{LIST}?{query}").json()
    assert names(answer) == [f"s{number}-a.example.warc.gz" for number in found]


def test_bad_questions(library: Caller, prsm: Running) -> None:
    """A bad date or page is a sentence; a bad token is 403, which clients understand."""
    answer = library.get(f"{LIST}?crawl-time-after=yesterday")
    assert (answer.status_code, "yesterday" in answer.text) == (400, True)
    assert library.get(f"{LIST}?page=0").status_code == 400
    assert library.get(f"{LIST}?page_size=2001").status_code == 400
    assert prsm.anybody.get(LIST).status_code == 403
