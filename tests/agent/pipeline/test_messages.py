"""Every message of the crawl can be sent to another process: it pickles and comes back equal."""

from __future__ import annotations

import pickle
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import pytest

from agent.pipeline.crawl import CRAWL
from agent.pipeline.messages.hosts import (
    HandedOver,
    HostBegun,
    HostFailed,
    HostFound,
    LookUp,
    Moved,
    Placed,
    Unreached,
)
from agent.pipeline.messages.jobs import Job, ListChanged, ListSlice, UnitClosed, UnitFinished
from agent.pipeline.messages.pages import (
    Candidate,
    Earlier,
    Fetched,
    Links,
    Outside,
    PageWork,
    Processed,
)
from agent.pipeline.messages.requests import Denied, Due, FetchAnswer, FetchRequest, Tick
from agent.pipeline.messages.robots import RulesDue, RulesFetched, RulesKnown, RulesRedirected
from shared.archive.capture import Capture, Revisit
from shared.archive.encode import encode_capture
from shared.host_failures import HostFailure

HOST, URL, REFERER = "http://a.example:80/", "http://a.example/x?y=\udc80", "http://b.example/"
ADDRESS, OTHER = "192.0.2.1", "2001:db8::1"
CLOCK = "192.0.2.1 a.example"
CHAIN = '[["5f3a"],[["seen","1","www.a.example",true,"/",false]]]'
JOB = Job(7, HOST, "refetch", 3, 50, 1500, ("/x/",), ((URL, REFERER), (HOST, None)), 2, 4, 400)
DUE = Due(URL, HOST, ADDRESS, 7, 4, 1, REFERER, 2, 3, "crawl", CHAIN, 5, CLOCK)
RULES_DUE = RulesDue(HOST, ADDRESS, URL, 2, 3, "probe", 12.5, CHAIN, 2, CLOCK)
CAPTURE = Capture(
    *(REFERER, 1_700_000_000_000, b"GET / HTTP/1.1\r\n\r\n"),
    *(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"<p>\x00", ADDRESS),
    *("length", "sha256:00", Revisit("identical-payload-digest", REFERER, 1_600_000_000_000)),
    {"WARC-Identified": "x"},
)
LINKS = Links((URL, HOST), REFERER, 7, 4, 1, "00ff", CHAIN, True, b"\x01\x86", True, "ja")
PROCESSED = Processed(
    encode_capture(Capture(REFERER, 5, b"", CAPTURE.response_header, b"<p>", ADDRESS)),
    *(URL, HOST, ADDRESS, 7, True, (REFERER,), "noindex", ('"e"', "")),
)
EARLIER = Earlier(5, "sha256:00", '"e"', "Thu, 01 Jan 1970 00:00:00 GMT")

EXAMPLES: dict[type, object] = {
    type(one): one
    for one in (
        Candidate(URL, HOST, 7, 4, 1, REFERER, CHAIN, True, 5),
        Denied(DUE, HOST, ADDRESS, "Disallow: /"),
        DUE,
        FetchAnswer(
            FetchRequest(URL, ADDRESS, 1000, True, EARLIER, RULES_DUE, "seen=1"),
            *("truncated", CAPTURE, 301, 100, 2000, 12.5, 1_700_000_000_000, 99.5, True),
            *(REFERER, 120.0, "cut", 3.5, 7.5),
        ),
        Fetched(CAPTURE, URL, HOST, ADDRESS, 7, 4, 1, True, 5, True),
        HandedOver(HOST, OTHER, (JOB,), 99.5),
        HostBegun(HOST, ADDRESS, (7, 8)),
        HostFailed(HOST, "no such name", HostFailure.NO_SUCH_NAME),
        HostFound(HOST, (ADDRESS, OTHER)),
        LINKS,
        ListChanged((JOB,), (JOB, JOB), frozenset({7, 8}), (JOB,), (JOB,), (JOB,), (JOB,), True),
        ListSlice((7, 8), (JOB,), ((JOB, REFERER), (JOB, None)), True, True),
        LookUp(HOST, (ADDRESS,), 300.0, "later", True, 12.5, HostFailure.NAME_TIMEOUT),
        Moved(HOST, OTHER, ADDRESS, "timed out", HostFailure.NAME_TIMEOUT),
        Outside(URL, REFERER),
        PageWork(PROCESSED, LINKS),
        Placed(7, HOST, ADDRESS, 12.5),
        PROCESSED,
        RULES_DUE,
        RulesFetched(HOST, ADDRESS, 200, b"Disallow: /\xff", "truncated"),
        RulesKnown(HOST, ADDRESS, 99.5, 2.5, True, "503"),
        RulesRedirected(HOST, REFERER, URL, 2, 3, "crawl", ADDRESS, CHAIN),
        Tick(99.5, 1_700_000_000_000, True, True),
        UnitClosed(7, HOST, HOST),
        UnitFinished(7, HOST, HOST, "crawl", 3, 5, 9000, "limit", HostFailure.UNREACHABLE, 1.5),
        Unreached(HOST, ADDRESS, True),
    )
}

MESSAGES: set[type] = {
    message
    for module in CRAWL.modules
    for message in (*module.inputs.values(), *module.outputs.values())
}


def unfilled(value: Any) -> list[str]:
    """Return the fields that have their default, those of records within it too."""
    found = []
    for field in fields(value):
        one = getattr(value, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if one == default:
            found.append(f"{type(value).__name__}.{field.name}")
        for record in one if isinstance(one, tuple) else (one,):
            found += unfilled(record) if is_dataclass(record) else []
    return found


@pytest.mark.parametrize("message", sorted(MESSAGES, key=str))
def test_a_message_comes_back_equal(message: type) -> None:
    """Its example, of which each field has another value than its default, survives a pickle."""
    example = EXAMPLES[message]
    assert unfilled(example) == []
    again = pickle.loads(pickle.dumps(example))
    assert again is not example
    assert again == example


def test_each_example_is_of_a_message() -> None:
    """What the graph no longer sends needs no example."""
    assert EXAMPLES.keys() == MESSAGES
