"""Time in, completions in, commits out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence

import pytest

from agent.pipeline.handler import Handler, Input, Inputs, Output
from agent.pipeline.messages.requests import Tick
from agent.pipeline.partition import Partition
from agent.pipeline.spec import Key, Module, Pipeline
from agent.runners.crawl_loop import STILL_TICK_S, STILL_TURNS, TICK_S, CrawlLoop
from agent.runners.in_process import InProcessRunner, Post
from agent.runners.loop_pauses import BEAT_S, Pauses
from shared.messages import Message
from tests.agent.fakes import FakeClock, FakeLedger

ONE = Module("one", Key.SINGLE, {"in": str, "tick": Tick})
PIPELINE = Pipeline((ONE,), (), ("one.in", "one.tick"))


class Listener:
    """Remembers what it was told, and fails where a test wants it to."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.ticks: list[Tick] = []
        self.before: Callable[[str, int], None] = lambda port, size: None

    def inputs(self) -> Inputs:
        return {"in": Input(str, self.handle_in), "tick": Input(Tick, self.handle_tick)}

    def handle_tick(self, batch: Sequence[Tick]) -> Iterable[Output]:
        self.before("tick", len(batch))
        self.ticks += batch
        return ()

    def handle_in(self, batch: Sequence[str]) -> Iterable[Output]:
        self.before("in", len(batch))
        for one in batch:
            if one == "defect":
                raise ZeroDivisionError("a defect of ours")
            self.heard.append(one)
        return ()


class Watch:
    """What the loop asks of the modules."""

    at_work = 0
    paused: Message | None = None
    crowded = False
    urgent = False
    waits_for_tick = False
    commits = 0
    due_s = math.inf

    def next_s(self, within_s: float) -> float:
        return self.due_s

    def committed(self) -> None:
        self.commits += 1


class Bench:
    """A loop around one module."""

    def __init__(self, tick_s: float = 0.001) -> None:
        self.listener = Listener()
        self.clock, self.ledger, self.watch = FakeClock(), FakeLedger(), Watch()

        def make(module: str, partition: Partition, post: Post) -> Handler:
            return self.listener

        self.may_fetch = True
        self.runner = InProcessRunner(PIPELINE, make)
        self.loop = CrawlLoop(
            self.runner,
            self.watch,
            self.ledger,
            self.clock,
            lambda: self.may_fetch,
            commit_s=0.25,
            tick_s=tick_s,
        )

    def turn(self, *messages: object, seconds: float = 0.0) -> None:
        for message in messages:
            self.runner.post("one.in", message)
        self.clock.now_s += seconds
        self.loop.turn()


def test_a_commit_is_due_after_its_time_and_only_if_something_happened() -> None:
    """Work is made durable together, several times a second; an idle crawl leaves the disk be."""
    bench = Bench()
    bench.turn("x", seconds=0.1)
    assert bench.ledger.commits == 0
    bench.turn(seconds=0.2)
    assert bench.ledger.commits == bench.watch.commits == 1
    for _ in range(20):
        bench.turn(seconds=1.0)
    assert bench.ledger.commits == 1


def test_what_is_big_does_not_wait() -> None:
    """When much was written, the commit follows at once."""
    bench = Bench()
    bench.watch.urgent = True
    bench.turn("x")
    assert bench.ledger.commits == 1


def test_fetching_needs_everybodys_consent() -> None:
    """The tick says no when the agent, the modules or the disk say no."""
    bench = Bench()
    bench.turn()
    bench.may_fetch = False
    bench.turn()
    bench.may_fetch = True
    bench.watch.paused = Message("agent.disk_full", why="3 bytes left")
    bench.turn()
    assert [tick.fetching for tick in bench.listener.ticks] == [True, False, False]
    assert bench.loop.paused == bench.watch.paused


def test_a_commit_without_room_pauses_until_there_is() -> None:
    """A full disk at the commit stops fetching; the next commit that works lets it go on."""
    bench = Bench()
    bench.ledger.full = True
    bench.turn("x", seconds=1.0)
    bench.turn(seconds=1.0)
    assert str(bench.loop.paused).startswith("disk full")
    assert not bench.listener.ticks[-1].fetching
    bench.ledger.full = False
    bench.turn(seconds=1.0)
    bench.turn(seconds=1.0)
    assert bench.loop.paused is None
    assert bench.listener.ticks[-1].fetching
    assert bench.ledger.commits == 1


def test_the_time_is_told_after_everything_that_came() -> None:
    """A tick never stands before a completion that was there already."""
    bench = Bench()
    order: list[str] = []
    bench.listener.before = lambda port, size: order.append(port)
    bench.turn("x", "y")
    assert order == ["in", "tick"]
    assert bench.listener.heard == ["x", "y"]


def test_a_long_turn_leaves_the_rest_to_the_next() -> None:
    """Connections are served between turns, however much came; nothing of it is forgotten."""
    bench = Bench()

    def slow(port: str, size: int) -> None:
        if port == "in":
            bench.clock.now_s += 0.01 * size

    bench.listener.before = slow
    messages = [str(number) for number in range(1000)]
    bench.turn(*messages)
    assert 0 < len(bench.listener.heard) < 1000
    assert len(bench.listener.ticks) == 1
    while not bench.runner.idle:
        bench.turn()
    assert bench.listener.heard == messages


def test_the_worst_pause_and_the_worst_commit_are_known() -> None:
    """Both are measured for the status, each by itself."""
    bench = Bench()
    commit = bench.ledger.commit

    def slow_commit() -> None:
        bench.clock.now_s += 0.5
        commit()

    def slow(port: str, size: int) -> None:
        bench.clock.now_s += 0.3 * (port == "in")

    bench.ledger.commit = slow_commit  # type: ignore[method-assign]
    bench.listener.before = slow
    bench.turn("x", seconds=1.0)
    bench.turn()
    assert bench.loop.pauses.worst_commit_s == pytest.approx(0.5)
    assert bench.loop.pauses.worst_s == pytest.approx(0.8)


def test_a_beat_that_comes_late_tells_of_a_pause() -> None:
    """Whatever holds the loop up counts, also what is no turn of ours."""

    async def scenario() -> float:
        clock = FakeClock()
        pauses = Pauses(clock.monotonic_s)
        pauses.watch()
        clock.now_s += 3.0  # somebody computes
        async with asyncio.timeout(10):
            while not pauses.worst_s:  # noqa: ASYNC110  # the loop itself is watched
                await asyncio.sleep(0)
        pauses.stop()
        return pauses.worst_s

    assert asyncio.run(scenario()) == pytest.approx(3.0 - BEAT_S)


def test_it_wakes_for_what_comes_and_stops_when_asked() -> None:
    """Messages that come between turns are handled at once; a stop ends with a commit."""

    async def scenario(bench: Bench) -> None:
        stop = asyncio.Event()
        running = asyncio.ensure_future(bench.loop.run(stop, drain_s=0.0))
        await asyncio.sleep(0)
        bench.runner.post("one.in", "x")
        while not bench.listener.heard:  # noqa: ASYNC110  # it is this waking that is tested
            await asyncio.sleep(0)
        stop.set()
        await running

    bench = Bench()
    asyncio.run(scenario(bench))
    assert bench.listener.heard == ["x"]
    assert bench.ledger.commits == 1


def test_a_stop_waits_for_what_is_at_work_but_not_for_ever() -> None:
    """Requests under way may end; after the deadline the loop commits without them."""

    async def scenario(bench: Bench, drain_s: float) -> None:
        stop = asyncio.Event()
        stop.set()

        async def time_passes() -> None:
            while True:
                bench.clock.now_s += 1.0
                if bench.clock.now_s == 1010.0:
                    bench.watch.at_work = 0
                    bench.runner.post("one.in", "answer")
                await asyncio.sleep(0)

        passing = asyncio.ensure_future(time_passes())
        await bench.loop.run(stop, drain_s)
        passing.cancel()

    patient, hasty = Bench(), Bench()
    patient.watch.at_work = hasty.watch.at_work = 1
    asyncio.run(scenario(patient, 1e9))
    assert patient.listener.heard == ["answer"]
    asyncio.run(scenario(hasty, 1.0))
    assert hasty.listener.heard == []
    assert not any(tick.fetching for tick in (*patient.listener.ticks, *hasty.listener.ticks))


def test_a_defect_ends_the_loop() -> None:
    """What a handler raises is ours to mend: the loop ends, and the last commit stands."""

    async def scenario(bench: Bench) -> None:
        bench.runner.post("one.in", "defect")
        await bench.loop.run(asyncio.Event(), 1.0)

    bench = Bench()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(scenario(bench))
    assert bench.ledger.commits == 0


def test_the_loop_wakes_when_an_address_has_rested_enough() -> None:
    """It does not wait for the next tick: the third turn comes at once, where ticks are hours."""

    async def scenario() -> None:
        bench = Bench(tick_s=3600.0)
        bench.watch.due_s = bench.clock.now_s
        heard = asyncio.Event()

        def notice(port: str, size: int) -> None:
            if len(bench.listener.ticks) >= 3:
                heard.set()

        bench.listener.before = notice
        stop = asyncio.Event()
        running = asyncio.ensure_future(bench.loop.run(stop, 0.0))
        async with asyncio.timeout(30):
            await heard.wait()
            bench.may_fetch = False  # nobody is waited for then: ticks are hours apart again
            bench.runner.post("one.in", "x")
            stop.set()
            await running

    asyncio.run(scenario())


def test_ticks_are_rare_where_nothing_happens() -> None:
    """An agent that waits for its manager costs next to nothing, and wakes up with the work."""
    bench = Bench(tick_s=TICK_S)

    def rests(turns: int) -> set[float]:
        found = set()
        for _ in range(turns):
            bench.turn(seconds=1.0)
            found.add(bench.loop._until_next(bench.clock.now_s))
        return found

    assert rests(STILL_TURNS - 1) == {TICK_S}
    assert rests(5) == {STILL_TICK_S}
    bench.turn("x")
    assert rests(STILL_TURNS) == {TICK_S}  # the first sees that something happened
    assert rests(5) == {STILL_TICK_S}
    bench.watch.waits_for_tick = True
    assert rests(2 * STILL_TURNS) == {TICK_S}
    bench.watch.waits_for_tick, bench.watch.at_work = False, 1
    assert rests(2 * STILL_TURNS) == {TICK_S}


def test_what_failed_outside_of_a_turn_is_not_committed() -> None:
    """A slice of a list that was carried out half ends the loop, uncommitted."""
    bench = Bench()

    async def crawl() -> None:
        running = asyncio.ensure_future(bench.loop.run(asyncio.Event(), 0.1))
        await asyncio.sleep(0.01)
        bench.runner.post("one.in", "half")
        bench.loop.fail(ZeroDivisionError("a defect of ours"))
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(running, 5)

    asyncio.run(crawl())
    assert bench.ledger.commits == 0
