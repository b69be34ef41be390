"""An agent's form of sync's messages is the manager's: fields, defaults, and what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined

from shared.errors import FormatError
from shared.wire import sync, sync_light
from shared.wire.sync_light import said
from shared.wire.sync_reading import read_answer, read_sending_limits, read_serving

MESSAGES = [name for name in sync_light.__all__ if is_dataclass(getattr(sync_light, name))]

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


def plain(value: Any) -> Any:
    """Return a message of either form as the same dictionaries."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


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
    """Return what the manager's model reads, with nothing converted; None: it refuses."""
    try:
        return plain(sync.SyncAnswer.model_validate_json(body, strict=True))
    except ValidationError:
        return None


def agents(body: bytes) -> Any:
    """Return what an agent reads; None: it refuses."""
    try:
        return plain(read_answer(body))
    except FormatError:
        return None


@pytest.mark.parametrize("name", MESSAGES)
def test_both_forms_have_the_same_fields_and_defaults(name: str) -> None:
    """A field that only one of them has would never be said, or never be heard."""
    light: Any = getattr(sync_light, name)
    model: type[BaseModel] = getattr(sync, name)
    assert {one.name for one in fields(light)} == set(model.model_fields)
    for one in fields(light):
        default: Any = one.default if one.default_factory is MISSING else one.default_factory()
        other = model.model_fields[one.name].get_default(call_default_factory=True)
        if other is PydanticUndefined:
            assert default is MISSING, one.name
        else:
            assert plain(default) == plain(other), one.name


def test_no_message_of_an_agent_has_only_one_form() -> None:
    """But how far an order is, which is told by the process that sends segments."""
    models = {
        name
        for name, one in vars(sync).items()
        if isinstance(one, type) and issubclass(one, BaseModel) and not name.startswith("_")
    }
    assert models - {"BaseModel", "OrderReport"} == set(MESSAGES)


def test_an_answer_is_read_as_the_manager_means_it() -> None:
    """All of it, and with nothing but what must be there."""
    least = {
        name: ANSWER[name] for name in ("server_time_ms", "next_poll_s", "round", "generation")
    }
    for answer in (ANSWER, least, ANSWER | {"mood": "good"}):
        body = json.dumps(answer).encode()
        assert agents(body) == managers(body) is not None
        read = sync.SyncAnswer.model_validate_json(body)
        assert agents(read.model_dump_json().encode()) == plain(read)


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
hours = st.lists(st.tuples(st.integers(0, 1440), st.integers(0, 1440)), max_size=3)
requests = st.builds(
    sync_light.SyncRequest,
    agent=st.just("a.example"),
    boot_id=texts,
    sequence=counts,
    version=texts,
    clock_ms=st.integers(0, 10**12),
    state=st.sampled_from(get_args(sync.AgentState)),
    state_reason=texts,
    next_contact_ms=st.none() | st.integers(0, 10**12),
    permit=st.none() | st.builds(sync_light.HeldPermit, counts, counts),
    finished=st.lists(
        st.builds(
            sync_light.FinishedUnit, texts, st.sampled_from(["probe", "crawl"]), counts, counts,
            counts, texts,
        ),
        max_size=2,
    ),
    addresses=st.lists(st.builds(sync_light.HostAddresses, texts, st.lists(texts)), max_size=2),
    rests=st.lists(st.builds(sync_light.HostRest, texts, counts, counts, texts), max_size=2),
    counters=st.builds(
        sync_light.Counters,
        requests=counts,
        stopped=st.lists(st.builds(sync_light.StoppedUrls, texts, counts, texts), max_size=2),
        kinds=st.lists(st.builds(sync_light.KindOfLinks, texts, *[counts] * 3), max_size=2),
    ),
    capacity=st.none()
    | st.builds(
        sync_light.Capacity,
        interval_s=st.floats(0, 86_400),
        weekday=hours,
        days=st.lists(st.builds(sync_light.DayHours, st.just("sat"), hours), max_size=2),
    ),
    disk_free_bytes=st.none() | counts,
    serving=st.none()
    | st.builds(sync_light.Serving, st.just("https://a.example"), st.just("0" * 64)),
)  # fmt: skip


@given(requests)
def test_the_manager_hears_what_an_agent_says(request: sync_light.SyncRequest) -> None:
    """What is None is not said, and is None again over there."""
    told = json.dumps(said(request), allow_nan=False).encode()
    assert b"null" not in told
    heard = sync.SyncRequest.model_validate_json(told, strict=True)
    assert plain(heard) == plain(request)


def test_what_is_kept_on_the_disk_is_read_again() -> None:
    """Limits of sending, and where segments are served; the files of earlier releases too."""
    limits = sync_light.SendingLimits(bytes_per_s=5, weekday=[(1, 2)], weekend=[], zone="UTC")
    assert read_sending_limits(json.dumps(said(limits)).encode()) == limits
    before = sync.SendingLimits(weekday=[(1, 2)]).model_dump_json().encode()
    assert read_sending_limits(before) == sync_light.SendingLimits(weekday=[(1, 2)])
    serving = sync_light.Serving("https://a.example:8443", "0f" * 32)
    assert read_serving(json.dumps(said(serving)).encode()) == serving
    for wrong in (
        {"url": "http://a.example", "fingerprint": "0f" * 32},
        {"url": "https://a.example/x", "fingerprint": "0f" * 32},
        {"url": "https://a.example", "fingerprint": "0f" * 32 + "\n"},
        {"url": "https://a.example"},
    ):
        with pytest.raises(FormatError):
            read_serving(json.dumps(wrong).encode())
