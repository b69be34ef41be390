"""robots.txt is fetched, followed through redirects, decoded, and never half believed."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

import pytest

from agent.modules.limits import CrawlLimits
from agent.modules.robots.robots_fetch import RulesFetch
from agent.modules.robots.robots_parser import MAX_BYTES
from agent.pipeline.handler import Output
from agent.pipeline.messages.pages import Fetched
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest
from agent.pipeline.messages.robots import RulesDue, RulesFetched, RulesRedirected
from tests.agent.fakes import FakeClock, FakeFetcher
from tests.agent.modules.answers import ADDRESS, HOST, answer

URL = "http://a.example/robots.txt"
DUE = RulesDue(HOST, ADDRESS, URL, 0, 6, "crawl")
ELSEWHERE = RulesDue(HOST, "192.0.2.9", "http://b.example/rules", 5, 6, "crawl")


def ports(outputs: Iterable[Output]) -> list[str]:
    return [port for port, _ in outputs]


def of(outputs: Iterable[Output], port: str) -> list[object]:
    return [message for name, message in outputs if name == port]


def ends(due: RulesDue = DUE, **how: object) -> list[Output]:
    module = RulesFetch(FakeFetcher(FakeClock(), {}), CrawlLimits(), lambda done: None)
    request = FetchRequest(due.url, due.address, 1000, rules=True, due=due)
    return list(module.handle_answer([answer(request, **how)]))  # type: ignore[arg-type]


def test_the_request_says_that_it_is_for_rules() -> None:
    """At most what must be parsed is fetched, and the request is marked."""
    fetcher = FakeFetcher(FakeClock(), {})
    module = RulesFetch(fetcher, CrawlLimits(), lambda done: None)
    list(module.handle_due([DUE]))
    request = FetchRequest(URL, ADDRESS, MAX_BYTES, rules=True, due=DUE)
    assert fetcher.flights[0].request == request
    assert module.in_flight == 1


def test_an_answer_ends_the_turn_and_is_archived_and_handed_on() -> None:
    """A robots.txt is a request and a capture like any other."""
    outputs = ends(body=b"User-agent: *")
    assert ports(outputs) == ["ended", "page", "fetched"]
    (ended,) = of(outputs, "ended")
    assert isinstance(ended, FetchAnswer)
    assert (ended.due, ended.address) == (DUE, ADDRESS)
    (page,) = of(outputs, "page")
    assert isinstance(page, Fetched)
    assert page.is_rules
    assert of(outputs, "fetched") == [RulesFetched(HOST, ADDRESS, 200, b"User-agent: *")]


@pytest.mark.parametrize("status", [404, 403, 500, 503])
def test_statuses_are_handed_on(status: int) -> None:
    """What a status means is not decided here, and no attempt is made twice."""
    (fetched,) = of(ends(status=status), "fetched")
    assert isinstance(fetched, RulesFetched)
    assert fetched.status == status


def test_redirects_are_followed_to_other_hosts() -> None:
    """The redirect goes to be resolved: whose rules, where they lie, how far it was."""
    outputs = ends(status=301, location="https://b.example:8443/rules")
    assert of(outputs, "redirect") == [
        RulesRedirected(
            HOST, "https://b.example:8443/", "https://b.example:8443/rules", 1, 6, "crawl"
        )
    ]
    assert of(outputs, "fetched") == []
    assert len(of(outputs, "page")) == 1


def test_five_redirects_are_followed_and_no_sixth() -> None:
    """Behind more redirects there are no rules (RFC 9309, 2.3.1.2)."""
    outputs = ends(ELSEWHERE, status=302, location="/again")
    assert of(outputs, "redirect") == []
    assert of(outputs, "fetched") == [RulesFetched(HOST, "192.0.2.9", 404, b"")]
    (page,) = of(outputs, "page")
    assert isinstance(page, Fetched)
    assert page.host == "http://b.example:80/"


def test_a_redirect_to_nowhere_means_no_rules() -> None:
    """A redirect without a usable target is as good as none."""
    assert of(ends(status=302), "fetched") == [RulesFetched(HOST, ADDRESS, 404, b"")]


def test_silence_is_handed_on_with_its_reason() -> None:
    """Without an answer the status is 0, and the reason is in the words of whoever knows."""
    assert of(ends(outcome="timeout"), "fetched") == [
        RulesFetched(HOST, ADDRESS, 0, b"", "timeout")
    ]
    assert of(ends(outcome="tls"), "fetched") == [
        RulesFetched(HOST, ADDRESS, 0, b"", "in other words")
    ]


def test_what_was_not_sent_is_asked_again() -> None:
    """Without a permit there are no rules: the frontier will ask again."""
    assert ports(ends(outcome="no_permit")) == ["ended"]


def test_encodings_are_taken_off() -> None:
    """A server may compress its robots.txt like any page."""
    rules = b"User-agent: *\nDisallow: /\n"
    outputs = ends(body=gzip.compress(rules), fields=b"Content-Encoding: gzip\r\n")
    assert of(outputs, "fetched") == [RulesFetched(HOST, ADDRESS, 200, rules)]


@pytest.mark.parametrize(
    "fields", [b"", b"Content-Encoding: gzip\r\n", b"Content-Type: x/gzip\r\n"]
)
def test_a_packed_file_is_unpacked(fields: bytes) -> None:
    """Whatever its header says: one that lies there packed, or is packed once more for the way."""
    rules = b"User-agent: *\nDisallow: /\n"
    body = gzip.compress(gzip.compress(rules)) if b"Encoding" in fields else gzip.compress(rules)
    assert of(ends(body=body, fields=fields), "fetched") == [
        RulesFetched(HOST, ADDRESS, 200, rules)
    ]


def test_an_encoding_that_cannot_be_taken_off_hides_the_rules() -> None:
    """What cannot be read might forbid anything; plain text under such a name is read."""
    fields = b"Content-Encoding: bzip2\r\n"
    (hidden,) = of(ends(body=b"BZh9\x00\x01", fields=fields), "fetched")
    assert hidden == RulesFetched(HOST, ADDRESS, 0, b"", "Content-Encoding bzip2 is not understood")
    (read,) = of(ends(body=b"User-agent: *\n", fields=fields), "fetched")
    assert read == RulesFetched(HOST, ADDRESS, 200, b"User-agent: *\n")


def test_half_a_robots_txt_is_not_believed() -> None:
    """What was cut by the server might allow what the rest forbids; our own limit is different."""
    outputs = ends(outcome="truncated", body=b"User-agent: *\n")
    assert of(outputs, "fetched") == [RulesFetched(HOST, ADDRESS, 0, b"", "truncated")]
    long = ends(outcome="truncated", body=b"#" * MAX_BYTES)
    assert of(long, "fetched") == [RulesFetched(HOST, ADDRESS, 200, b"#" * MAX_BYTES)]
    damaged = gzip.compress(b"User-agent: *\nDisallow: /\n" * 99)[:-20]
    (fetched,) = of(ends(body=damaged, fields=b"Content-Encoding: gzip\r\n"), "fetched")
    assert isinstance(fetched, RulesFetched)
    assert fetched.status == 0
    assert fetched.reason
