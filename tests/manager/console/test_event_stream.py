"""The event stream: says that something changed, ends with its session, and is one of few."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from manager.console.event_stream import LOOKS_A_SIGN, OF_A_SESSION, Streams, told
from manager.operations.change_marks import TOPICS, marks
from manager.operations.hosts.hosts import exclude_host
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS
from tests.manager.operations.world import ADMIN
from tests.manager.running import START_MS, Running

HELLO = "event: hello\n"


async def _take(texts: AsyncIterator[str], most: int) -> list[str]:
    """Return the first texts of a stream; it may end before."""
    found: list[str] = []
    async for text in texts:
        found.append(text)
        if len(found) == most:
            break
    await texts.aclose()  # type: ignore[attr-defined]  # a generator
    return found


def test_only_what_changed_is_named() -> None:
    """Nothing is said while nothing changes; then the topics, and nothing of what is in them."""
    looks = iter([{"agents": "1", "hosts": "1"}] * 3 + [{"agents": "1", "hosts": "2"}] * 9)

    async def watch() -> list[str]:
        return await _take(told(Streams(), "a", lambda: next(looks), lambda: False, 0.0), 2)

    hello, changed = asyncio.run(watch())
    assert HELLO in hello
    assert changed == "event: changed\ndata: hosts\n\n"


def test_a_stream_ends_with_its_session() -> None:
    """When the session is over the page is told so, and the connection ends."""
    same: dict[str, str] = {}

    async def watch() -> list[str]:
        over = iter([False, True])
        return await _take(told(Streams(), "a", lambda: same, lambda: next(over), 0.0), 99)

    texts = asyncio.run(watch())
    assert texts[1:] == [": here\n\n", "event: over\ndata:\n\n"]


def test_a_stream_ends_when_the_manager_stops() -> None:
    """Streams do not hold up the end of the manager."""
    streams = Streams()
    looks: list[int] = []

    def look() -> dict[str, str]:
        looks.append(1)
        if len(looks) == LOOKS_A_SIGN:
            streams.close()
        return {}

    async def watch() -> list[str]:
        return await _take(told(streams, "a", look, lambda: False, 0.0), 99)

    assert len(asyncio.run(watch())) == 1
    assert len(looks) == LOOKS_A_SIGN


def test_a_database_that_fails_ends_the_stream_and_frees_its_place() -> None:
    """The browser comes back by itself; nothing of the failure is said."""
    streams = Streams(most=1)
    answers: list[Any] = [{}, OSError("gone")]

    def look() -> dict[str, str]:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    async def watch() -> list[str]:
        return await _take(told(streams, "a", look, lambda: False, 0.0), 99)

    assert len(asyncio.run(watch())) == 1
    assert streams.has_room("b")


def test_there_are_only_so_many() -> None:
    """A session has its share, a manager its whole; who leaves makes room."""
    streams = Streams(most=OF_A_SESSION + 1)

    async def watch() -> list[list[str]]:
        opened = []
        for _ in range(OF_A_SESSION):
            each = told(streams, "a", dict, lambda: False, 0.0)
            await anext(each)
            opened.append(each)
        refused = await _take(told(streams, "a", dict, lambda: False, 0.0), 1)
        other = told(streams, "b", dict, lambda: False, 0.0)
        first = await anext(other)
        full = await _take(told(streams, "c", dict, lambda: False, 0.0), 1)
        await other.aclose()  # type: ignore[attr-defined]  # a generator
        later = await _take(told(streams, "c", dict, lambda: False, 0.0), 1)
        for each in opened:
            await each.aclose()  # type: ignore[attr-defined]  # a generator
        return [refused, [first], full, later]

    refused, first, full, later = asyncio.run(watch())
    assert refused == full == []
    assert HELLO in first[0]
    assert HELLO in later[0]
    assert streams.has_room("a")


def test_who_gets_none_is_told_to_ask(prsm: Running, person: Visitor) -> None:
    """Without room the answer is 503: pages ask every few seconds instead. Nobody else gets one."""
    browser = person("viewer")
    answer = browser.get("/console/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert HELLO in answer.text
    assert person("").get("/console/events").status_code == 303
    over = person("").get("/console/events", accept="text/event-stream")
    assert (over.status_code, over.text) == (204, "")  # the login is no stream
    prsm.console.streams._most = 0
    refused = browser.get("/console/events")
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) > 0


def test_what_another_manager_does_is_seen(prsm: Running) -> None:
    """The marks come from the database: whoever changed it, and nothing changes by looking."""
    before = marks(prsm.manager.db)
    assert set(before) == set(TOPICS)
    assert marks(prsm.manager.db) == before
    exclude_host(prsm.manager.db, f"http://{HOSTS[7]}:80/", "asked", ADMIN, START_MS)
    after = marks(prsm.manager.db)
    assert {"hosts", "audit"} <= {topic for topic in after if after[topic] != before[topic]}
    assert after["reports"] == before["reports"]
