"""One request for each URL, one message for each thing that it causes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from agent.modules.fetch import Fetch
from agent.modules.limits import CrawlLimits
from agent.pipeline.handler import Output
from agent.pipeline.messages.pages import Earlier, Fetched, Links
from agent.pipeline.messages.requests import Due, FetchAnswer, FetchRequest, Outcome
from shared.archive.capture import IDENTICAL_PAYLOAD, NOT_MODIFIED, Capture, Revisit
from shared.archive.encode import payload_digest
from tests.agent.fakes import FakeClock, FakeFetcher
from tests.agent.modules.answers import ADDRESS, HOST, URL, answer

DUE = Due(URL, HOST, ADDRESS, 4, 3, 1, None, 1, 6, "probe")


def ports(outputs: Iterable[Output]) -> list[str]:
    return [port for port, _ in outputs]


def of(outputs: Iterable[Output], port: str) -> list[object]:
    return [message for name, message in outputs if name == port]


def ends(due: Due = DUE, **how: object) -> list[Output]:
    module = Fetch(FakeFetcher(FakeClock(), {}), CrawlLimits(), lambda done: None)
    request = FetchRequest(due.url, due.address, 1000, due=due)
    return list(module.handle_answer([answer(request, **how)]))  # type: ignore[arg-type]


def test_a_turn_becomes_one_request() -> None:
    """The URL is asked for at the address that was checked, with the limit of a body."""
    fetcher = FakeFetcher(FakeClock(), {})
    back: list[FetchAnswer] = []
    module = Fetch(fetcher, CrawlLimits(body_bytes=1000), back.append)
    assert list(module.handle_due([DUE])) == []
    assert fetcher.flights[0].request == FetchRequest(URL, ADDRESS, 1000, due=DUE)
    assert module.in_flight == 1
    fetcher.answer()
    assert (back[0].due, back[0].address) == (DUE, ADDRESS)
    list(module.handle_answer(back))
    assert module.in_flight == 0


def test_behind_a_proxy_no_address_is_pinned() -> None:
    """Where the address is a host key, the proxy finds it."""
    fetcher = FakeFetcher(FakeClock(), {})
    module = Fetch(fetcher, CrawlLimits(), lambda done: None)
    list(module.handle_due([replace(DUE, address=HOST)]))
    assert fetcher.flights[0].request.address == ""


def test_an_answer_ends_the_turn_and_becomes_a_page() -> None:
    """A whole answer gives the token back, which is a line of the log, and goes to be parsed."""
    outputs = ends()
    assert ports(outputs) == ["ended", "page"]
    (ended,) = of(outputs, "ended")
    assert isinstance(ended, FetchAnswer)
    assert (ended.due, ended.address, ended.status) == (DUE, ADDRESS, 200)
    assert ended.header == b"HTTP/1.1 200 X\r\n\r\n"
    (page,) = of(outputs, "page")
    assert isinstance(page, Fetched)
    assert (page.url, page.host, page.address) == (URL, HOST, ADDRESS)
    assert (page.job, page.depth, page.redirects, page.is_rules) == (4, 3, 1, False)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_page_and_a_link(status: int) -> None:
    """Its target goes back to the filter, one hop further and no deeper; itself it is kept."""
    outputs = ends(status=status, location="../y#part")
    expected = Links(("http://a.example/y",), URL, 4, 3, 2, kinds=b"\0", is_embedded=True)
    assert of(outputs, "redirect") == [expected]
    assert len(of(outputs, "page")) == 1


@pytest.mark.parametrize(
    "location", [None, "javascript:x", "http://", "ftp://a.example/", "http://b.example:25/"]
)
def test_a_redirect_to_nowhere_is_just_a_page(location: str | None) -> None:
    """A target that cannot be fetched leads nowhere and breaks nothing."""
    assert ports(ends(status=302, location=location)) == ["ended", "page"]


def test_other_answers_are_no_redirects() -> None:
    """A Location in an answer that is none means nothing."""
    assert "redirect" not in ports(ends(status=201, location="/y"))


@pytest.mark.parametrize("outcome", ["refused", "timeout", "disconnected", "malformed", "tls"])
def test_without_an_answer_there_is_no_page(outcome: Outcome) -> None:
    """A request that failed gives its token back."""
    assert ports(ends(outcome=outcome)) == ["ended"]


def test_an_answer_that_gets_another_attempt_is_no_page_yet() -> None:
    """429 and 503 are logged but not archived, until the last attempt."""
    assert ports(ends(status=503)) == ["ended"]
    assert ports(ends(replace(DUE, attempt=3), status=503)) == ["ended", "page"]


def test_answers_go_back_to_where_they_came_from() -> None:
    """A completion carries the turn's address, so that it meets the partition that began it."""
    behind_proxy = replace(DUE, address=HOST)
    assert answer(FetchRequest(URL, "", 1, due=behind_proxy)).address == HOST


class Memory:
    """Knows one URL."""

    def __init__(self, earlier: Earlier) -> None:
        self.earlier = earlier

    def look_up(self, host: str, url: str) -> Earlier | None:
        return self.earlier if (host, url) == (HOST, URL) else None

    def remember(self, host: str, url: str, earlier: Earlier) -> None:
        raise AssertionError("fetching remembers nothing")

    def committed(self) -> None:
        raise AssertionError("fetching commits nothing")


EARLIER = Earlier(1_000, payload_digest(b"hello"), '"e"', "")


def asked_for(due: Due) -> FetchRequest:
    fetcher = FakeFetcher(FakeClock(), {})
    list(Fetch(fetcher, CrawlLimits(), lambda done: None, Memory(EARLIER)).handle_due([due]))
    return fetcher.flights[0].request


def page(earlier: Earlier | None, **how: object) -> Capture:
    module = Fetch(FakeFetcher(FakeClock(), {}), CrawlLimits(), lambda done: None)
    request = FetchRequest(URL, ADDRESS, 1000, earlier=earlier, due=DUE)
    back = answer(request, **how)  # type: ignore[arg-type]
    (fetched,) = of(module.handle_answer([back]), "page")
    assert isinstance(fetched, Fetched)
    return fetched.capture


def test_what_was_stored_whole_is_asked_for_by_its_validators() -> None:
    """But not by a probe, which measures how long bodies take, nor an unknown URL."""
    assert asked_for(replace(DUE, kind="crawl")).earlier == EARLIER
    assert asked_for(DUE).earlier == replace(EARLIER, etag="")
    assert asked_for(replace(DUE, url=f"{URL}y")).earlier is None


def test_a_page_that_the_server_calls_unchanged_is_a_revisit() -> None:
    """It refers to the earlier capture, by the server's word; only if we asked for that word."""
    unchanged = page(EARLIER, status=304, body=b"")
    assert unchanged.revisit == Revisit(NOT_MODIFIED, URL, 1_000)
    assert unchanged.payload_digest == EARLIER.digest
    assert page(replace(EARLIER, etag=""), status=304, body=b"").revisit is None
    assert page(None, status=304, body=b"").revisit is None


def test_a_body_is_to_be_compared() -> None:
    """A whole one, of a page that is there: the work on pages answers whether it is the same."""
    compared = page(EARLIER)
    assert compared.revisit == Revisit(IDENTICAL_PAYLOAD, URL, 1_000)
    assert (compared.body, compared.payload_digest) == (b"hello", EARLIER.digest)
    assert page(EARLIER, status=404).revisit is None
    assert page(EARLIER, body=b"").revisit is None
    assert page(None).revisit is None
