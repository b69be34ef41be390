"""An agent reads sync's messages as the manager does by pydantic: values, and what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.errors import FormatError
from shared.wire import sync
from shared.wire.sync import said
from shared.wire.sync_json import json_of, read_message
from shared.wire.sync_reading import read_answer, read_sending_limits, read_serving

ANSWER: dict[str, Any] = {
    "protocol": 1,
    "server_time_ms": 1,
    "next_poll_s": 60,
    "round": 1,
    "generation": 2,
    "permit": {"epoch": 3, "duration_s": 600.5},
    "settings": {
        "interval_s": 2.5,
        "parallel_hosts": 7,
        "bytes_per_s": 1000,
        "blocked": ["/private"],
        "sending": {
            "bytes_per_s": 5,
            "weekday": [[0, 60], [120, 1440]],
            "weekend": [],
            "zone": "Asia/Tokyo",
        },
    },
    "command": {"id": "c1", "name": "restart", "argument": "confirmed"},
    "collection": [
        {"id": 1, "condition": "since", "way": "pull", "from_ms": 5, "until_ms": 6},
        {"id": 2, "condition": "full"},
    ],
    "withdrawn": ["http://h.example/"],
    "withdrawn_number": 4,
    "message": "hello",
}

OTHERS: list[Any] = [
    *(None, True, False, [], {}, "", "x", "é", "x" * 64, "x" * 65, "x" * 1000, "x" * 1001),
    *("x" * 4096, "x" * 4097, "\ud800", "1", "pause", "push", "a\n"),
    *(-1, 0, 1, 1440, 1441, 2**53, 253_370_764_799_999, 253_370_764_800_000, 10**400),
    *(-0.5, 0.0, 0.5, 366 * 86_400, 366 * 86_400 + 0.5, 1e308, float("inf"), float("nan")),
    *([1], [[1, 2]], [[1]], [[1, 2, 3]], [[1, 1441]], [[0, 1]] * 24, [[0, 1]] * 25),
    *(["/a"], [None], ["x" * 1001], ["x" * 4097], ["x"] * 10_000, ["x"] * 10_001),
    *([{"id": 1, "condition": "full"}] * count for count in (100, 101)),
]


ENDLESS = [("parallel_hosts",), ("bytes_per_s",), ("protocol",)]
"""Where the manager's model takes any whole number, and an agent what SQLite holds."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where anything stands in a message."""
    yield path
    inside = dict(enumerate(value)) if isinstance(value, list) else value
    for key, one in inside.items() if isinstance(inside, dict) else ():
        yield from places(one, (*path, key))


def changed(path: tuple[Any, ...], other: Any) -> Any:
    """Return the answer with another thing at a place."""
    if not path:
        return other
    answer = copy.deepcopy(ANSWER)
    inner: Any = answer
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = other
    return answer


def managers(body: bytes) -> Any:
    """Return what pydantic reads, with nothing converted; None: it refuses."""
    try:
        return read_message(sync.SyncAnswer, body, strict=True)
    except ValidationError:
        return None


def agents(body: bytes) -> Any:
    """Return what an agent reads; None: it refuses."""
    try:
        return read_answer(body)
    except FormatError:
        return None


def test_an_answer_is_read_as_the_manager_means_it() -> None:
    """All of it, and with nothing but what must be there."""
    least = {
        name: ANSWER[name] for name in ("server_time_ms", "next_poll_s", "round", "generation")
    }
    for answer in (ANSWER, least, ANSWER | {"mood": "good"}):
        body = json.dumps(answer).encode()
        assert agents(body) == managers(body) is not None
        read = read_message(sync.SyncAnswer, body)
        assert agents(json_of(read)) == read


def test_both_refuse_the_same() -> None:
    """Each place with each of many other things, and without what stands there."""
    refused = taken = 0
    for path in places(ANSWER):
        for other in OTHERS:
            body = json.dumps(changed(path, other)).encode()
            expected = managers(body)
            if other == 10**400 and path[-1:] in [
                ("parallel_hosts",),
                ("bytes_per_s",),
                ("protocol",),
            ]:
                continue  # whole numbers without an end: an agent's are those that SQLite holds
            assert agents(body) == expected, (path, repr(other)[:60])
            refused, taken = refused + (expected is None), taken + (expected is not None)
    assert refused > 500
    assert taken > 100
    for name in ANSWER:
        body = json.dumps({key: one for key, one in ANSWER.items() if key != name}).encode()
        assert agents(body) == managers(body), name


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xff",
        b"{",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"1" * 100_000,
        b'{"server_time_ms":' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    """Whatever a proxy or a stranger sends; nothing else is raised, and nothing hangs."""
    with pytest.raises(FormatError):
        read_answer(body)


def test_a_refusal_says_the_place() -> None:
    """So that whoever runs the manager knows what it said."""
    with pytest.raises(FormatError, match=r"^settings\.sending\.weekday\.1\.0 = 1441: must be"):
        read_answer(json.dumps(changed(("settings", "sending", "weekday", 1, 0), 1441)).encode())


texts = st.text(st.characters(codec="utf-8"), max_size=20)
counts = st.integers(0, 2**63 - 1)
hours = st.lists(st.tuples(st.integers(0, 1440), st.integers(0, 1440)), max_size=3).map(tuple)


def some(one: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Make up to two of something."""
    return st.lists(one, max_size=2).map(tuple)


requests = st.builds(
    sync.SyncRequest,
    agent=st.just("a.example"),
    boot_id=texts,
    sequence=counts,
    version=texts,
    clock_ms=st.integers(0, 10**12),
    state=st.sampled_from(get_args(sync.AgentState)),
    state_reason=texts,
    next_contact_ms=st.none() | st.integers(0, 10**12),
    permit=st.none() | st.builds(sync.HeldPermit, epoch=counts, remaining_ms=counts),
    finished=some(
        st.builds(
            sync.FinishedUnit, unit=texts, kind=st.sampled_from(["probe", "crawl"]), round=counts,
            pages=counts, response_bytes=counts, reason=texts,
        ),
    ),
    addresses=some(st.builds(sync.HostAddresses, host=texts, addresses=some(texts))),
    rests=some(
        st.builds(sync.HostRest, host=texts, rest_ms=counts, remaining_ms=counts, reason=texts)
    ),
    counters=st.builds(
        sync.Counters,
        requests=counts,
        stopped=some(st.builds(sync.StoppedUrls, reason=texts, count=counts, example=texts)),
        kinds=some(
            st.builds(sync.KindOfLinks, kind=texts, links=counts, pages=counts, missing=counts)
        ),
    ),
    capacity=st.none()
    | st.builds(
        sync.Capacity,
        interval_s=st.floats(0, 86_400),
        weekday=hours,
        days=some(st.builds(sync.DayHours, day=st.just("sat"), hours=hours)),
    ),
    disk_free_bytes=st.none() | counts,
    serving=st.none()
    | st.builds(
        sync.SegmentAddress, url=st.just("https://a.example"), fingerprint=st.just("0" * 64)
    ),
)  # fmt: skip


@given(requests)
def test_the_manager_hears_what_an_agent_says(request: sync.SyncRequest) -> None:
    """What is None is not said, and is None again over there."""
    told = json.dumps(said(request), allow_nan=False).encode()
    assert b"null" not in told
    assert read_message(sync.SyncRequest, told, strict=True) == request


def test_what_is_kept_on_the_disk_is_read_again() -> None:
    """Limits of sending, and where segments are served; the files of earlier releases too."""
    limits = sync.SendingLimits(bytes_per_s=5, weekday=((1, 2),), weekend=(), zone="UTC")
    assert read_sending_limits(json.dumps(said(limits)).encode()) == limits
    before = json_of(sync.SendingLimits(weekday=((1, 2),)))
    assert read_sending_limits(before) == sync.SendingLimits(weekday=((1, 2),))
    serving = sync.SegmentAddress(url="https://a.example:8443", fingerprint="0f" * 32)
    assert read_serving(json.dumps(said(serving)).encode()) == serving
    for wrong in (
        {"url": "http://a.example", "fingerprint": "0f" * 32},
        {"url": "https://a.example/x", "fingerprint": "0f" * 32},
        {"url": "https://a.example", "fingerprint": "0f" * 32 + "\n"},
        {"url": "https://a.example"},
    ):
        with pytest.raises(FormatError):
            read_serving(json.dumps(wrong).encode())
