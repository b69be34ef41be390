"""Equal pages under many URLs, from the bytes of a page to the links that pass."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from agent.modules.counts import StopCounts
from agent.modules.filter import Filter
from agent.modules.limits import CrawlLimits, PageLimits
from agent.modules.page.work import work_on
from agent.modules.parse import Parse
from agent.modules.server_list.scope import scope_of_jobs
from agent.modules.traps import SAME_CONTENT
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.pages import Candidate, Fetched, Links, PageWork
from shared.archive.capture import Capture
from tests.agent.fakes import HTML

HOST = "http://a.example.jp:80/"
SITE = "http://a.example.jp"
PDF = HTML.replace(b"text/html", b"application/pdf")
LINKED = b'<a href="/"></a>'


class RealWorker:
    """Does the work on a page at once, in this process."""

    crowded = False

    def start(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        done(work_on(page, PageLimits(agent_token="prsm")))

    def close(self) -> None:
        pass


class Way:
    """The way of a fetched page through `parse` and `filter`."""

    def __init__(self) -> None:
        self.stopped = StopCounts()
        scope = scope_of_jobs((Job(1, HOST, "crawl", 1),), frozenset())
        self._filter = Filter(scope, CrawlLimits(), lambda _: False, self.stopped, lambda: 2026)
        self._back: list[PageWork] = []
        self._parse = Parse(RealWorker(), self._back.append)
        self._numbers = count()

    def take(self, path: str, body: bytes, header: bytes = HTML) -> set[str]:
        """Take a page of the site; return the URLs that pass because of it."""
        url = SITE + path
        capture = Capture(url, 5, b"", header, body)
        list(self._parse.handle_pages([Fetched(capture, url, HOST, "192.0.2.1", 1, 2, 0)]))
        batch, self._back[:] = list(self._back), []
        passed = set()
        for _, links in self._parse.handle_answer(batch):
            outputs = self._filter.handle_links([links]) if isinstance(links, Links) else ()
            passed |= {one.url for _, one in outputs if isinstance(one, Candidate)}
        return passed

    def fall_in(self, body: bytes = LINKED, header: bytes = HTML) -> None:
        """Take as many equal pages as close the trap."""
        for _ in range(50):
            self.take(f"/item?id={next(self._numbers)}", body, header)


def page_with(urls: set[str]) -> bytes:
    return b"".join(b"<a href='%s'></a>" % url.encode() for url in sorted(urls))


ITEMS = {f"{SITE}/item?id={number}" for number in range(1000, 1200)}


@pytest.mark.parametrize(
    ("body", "header"),
    [
        (LINKED, HTML),
        (b"<p>Not found.", HTML),
        (b"", HTML),
        (b"<meta name=robots content=nofollow>" + LINKED, HTML),
        (b"%PDF-", PDF),
    ],
)
def test_equal_pages_are_noticed_with_links_and_without(body: bytes, header: bytes) -> None:
    """A site that says `not found` with status 200 to every number is not asked for them all."""
    way = Way()
    way.fall_in(body, header)
    passed = way.take("/list", page_with(ITEMS))
    assert len(passed) < len(ITEMS) / 2
    assert way.stopped.count(SAME_CONTENT) == len(ITEMS - passed)


def test_errors_are_no_pages() -> None:
    """What a site says to be missing may look alike, and closes nothing."""
    way = Way()
    way.fall_in(b"<p>Not found.", HTML.replace(b"200 OK", b"404 Not Found"))
    assert way.take("/list", page_with(ITEMS)) == ITEMS


def test_what_was_held_back_passes_when_a_page_is_different() -> None:
    """Held back is not thrown away: each URL passes when it is met again, and counts once."""
    way = Way()
    way.fall_in()
    first = way.take("/list", page_with(ITEMS))
    assert way.take("/list?again", page_with(ITEMS)) == set()
    assert way.stopped.count(SAME_CONTENT) == len(ITEMS - first)
    way.take("/item?id=999999", b"a page")
    assert way.take("/list?later", page_with(ITEMS)) == ITEMS - first
    assert way.take("/list?at+last", page_with(ITEMS)) == set()
    assert way.stopped.count(SAME_CONTENT) == len(ITEMS - first)


def test_a_trap_that_closes_again_holds_back_again() -> None:
    """What was not met while it was open still waits, and is not counted anew."""
    way = Way()
    way.fall_in()
    first = way.take("/list", page_with(ITEMS))
    way.take("/item?id=999999", b"a page")
    way.fall_in()
    assert way.take("/list?again", page_with(ITEMS)) == set()
    assert way.stopped.count(SAME_CONTENT) == len(ITEMS - first)
    way.take("/item?id=999998", b"another page")
    assert way.take("/list?later", page_with(ITEMS)) == ITEMS - first
