"""Keeps a runner going under asyncio: completions in, time in, commits out, and a clean stop.

A turn: settle the inbox, send the tick, settle its effects, commit when it is due.
So a commit always finds the modules at rest: what it makes durable fits together.
A turn that has taken `TURN_S` leaves what else came to the next one, so that connections are
served in between. Turns follow each other as fast as completions come; when none do, the next one
is when an address has rested enough, and `tick_s` after the last at the latest. Where nothing has
happened for some turns, and no module has work left, it is `STILL_TICK_S`: an agent that waits for
its manager costs next to nothing.

Invariant: a tick is sent only when everything is settled. After `run` has returned, the ledger
is committed, and nothing was begun since the stop was asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.requests import Tick
from agent.pipeline.ports import Clock
from agent.runners.event_gathering import GatheringLoop, GatheringSelector
from agent.runners.garbage_collection import Garbage
from agent.runners.in_process import InProcessRunner
from agent.runners.loop_pauses import Pauses
from shared.archive.errors import DiskFullError
from shared.messages import Message

__all__ = ["CrawlLoop", "Watched"]

TICK_S: Final = 0.1  # an unforeseen change (permit, window, room on disk) waits so long
STILL_TICK_S: Final = 0.5  # the same, where nothing has happened for so many turns
STILL_TURNS: Final = 20
LEAST_SLEEP_S: Final = 0.001
COMMIT_S: Final = 0.25
TURN_S: Final = 0.02  # a server that sends waits no longer for us than for its network


class Watched(Protocol):
    """Facts about the modules that the loop needs."""

    @property
    def at_work(self) -> int:
        """Requests and pages that are with the adapters."""
        ...

    @property
    def paused(self) -> Message | None:
        """Return why nothing may be fetched now; "": it may."""
        ...

    @property
    def crowded(self) -> bool:
        """Return whether so many pages wait for the workers that no more should be fetched."""
        ...

    @property
    def urgent(self) -> bool:
        """Return whether a commit should not wait."""
        ...

    @property
    def waits_for_tick(self) -> bool:
        """Return whether a module has work for the next tick, without new messages."""
        ...

    def next_s(self, within_s: float) -> float:
        """Return when the next request may begin (monotonic clock), if within so long; or `inf`."""
        ...

    def committed(self) -> None:
        """Take note of a commit."""
        ...


class CrawlLoop:
    """Runs until it is asked to stop. All of it lives on one event loop's thread."""

    def __init__(
        self,
        runner: InProcessRunner,
        watched: Watched,
        ledger: Ledger,
        clock: Clock,
        may_fetch: Callable[[], bool],
        *,
        commit_s: float = COMMIT_S,
        tick_s: float = TICK_S,
    ) -> None:
        """Take what is to be kept going.

        may_fetch: permit, window, and whatever else the agent asks before it begins a request.
        """
        self._runner = runner
        self._watched = watched
        self._ledger = ledger
        self._clock = clock
        self._may_fetch = may_fetch
        self._commit_s = commit_s
        self._tick_s = tick_s
        self._stopping = False
        self._fetching = False
        self._no_room: Message | None = None
        self._committed_s = clock.monotonic_s()
        self._handled_at_commit = 0
        self.turns = 0  # taken so far
        self._handled_before = 0  # the last turn
        self._still_turns = 0  # in a row, in which nothing happened
        self._turning = True  # a turn runs or is about to begin: no waking is needed
        self._alarm: asyncio.TimerHandle | None = None
        self.pauses = Pauses(clock.monotonic_s)
        self._garbage = Garbage()
        self._defect: Exception | None = None
        self._gathering: GatheringSelector | None = None

    @property
    def paused(self) -> Message | None:
        """Return why nothing is fetched although it might be; None: nothing hinders it."""
        return self._no_room or self._watched.paused

    async def run(self, stop: asyncio.Event, drain_s: float) -> None:
        """Crawl until `stop` is set; then begin nothing, wait `drain_s` for the rest, commit.

        Raises what a handler raised, which is a defect of ours: the ledger then keeps its last
        commit, and a new process continues from there.
        """
        self._loop = asyncio.get_running_loop()
        if isinstance(self._loop, GatheringLoop):
            self._gathering = self._loop.gathering
        self._ended = self._loop.create_future()
        self._stop, self._drain_s, self._deadline_s = stop, drain_s, float("inf")
        self._runner.on_post(self._wake)
        waiter = asyncio.ensure_future(stop.wait())
        waiter.add_done_callback(lambda _: self._wake())
        self._garbage.begin(self._clock.monotonic_s())
        self.pauses.watch(lambda: self._still_turns < STILL_TURNS)
        try:
            self._loop.call_soon(self._go_on)
            await self._ended
        finally:
            self._turning = True
            self._garbage.end()
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None
            waiter.cancel()
            self.pauses.stop()
        self._raise_defect()
        self._runner.run_until_settled()  # events that came in time count, at any cost
        self._commit()

    def fail(self, error: Exception) -> None:
        """End `run` with an error that a handler raised outside of its turns; commit nothing."""
        self._defect = error
        self._wake()

    def _raise_defect(self) -> None:
        if self._defect is not None:
            raise self._defect

    def _go_on(self) -> None:
        """Take a turn, and see to the next one, or the end."""
        if self._ended.done():
            return
        try:
            if self._stop.is_set() and not self._stopping:
                self._stopping = True
                self._deadline_s = self._clock.monotonic_s() + self._drain_s
            self.turn()
            now = self._clock.monotonic_s()
            if self._stopping and (self._is_quiet() or now >= self._deadline_s):
                self._ended.set_result(None)
                return
            self._garbage.look(now, self._is_quiet)
            self._rest(self._until_next(now))
        except Exception as error:  # noqa: BLE001  # whoever awaits `run` gets it
            self._ended.set_exception(error)

    def turn(self) -> None:
        """Settle, tell the time, settle, and commit when it is due."""
        self._raise_defect()
        self.turns += 1
        begun = self._clock.monotonic_s()
        self._runner.run_until_settled(lambda: self._clock.monotonic_s() - begun >= TURN_S)
        now = self._clock.monotonic_s()
        fetching = not self._stopping and not self.paused and self._may_fetch()
        crowded = self._watched.crowded
        self._fetching = fetching and not crowded
        self._runner.tick(Tick(now, self._clock.epoch_ms(), fetching, crowded))
        if self._watched.urgent or now - self._committed_s >= self._commit_s:
            self._commit()
        if self._gathering is not None:
            self._gathering.expect(self._watched.at_work)
        self.pauses.note(begun)

    def _is_quiet(self) -> bool:
        return self._runner.idle and not self._watched.at_work

    def _commit(self) -> None:
        self._committed_s = self._clock.monotonic_s()
        if self._runner.handled == self._handled_at_commit:
            return
        handled = self._runner.handled
        begun = self._clock.monotonic_s()
        try:
            self._ledger.commit()
        except DiskFullError as error:
            self._no_room = Message("agent.disk_full", why=error.message)
            return
        finally:
            self.pauses.note_commit(begun)
        self._no_room = None
        self._handled_at_commit = handled
        self._watched.committed()

    def _until_next(self, now: float) -> float:
        """Return how long nothing is to be done, as far as is known."""
        longest_s = max(self._tick_s, STILL_TICK_S) if self._is_still() else self._tick_s
        if self._fetching:
            longest_s = min(longest_s, self._watched.next_s(longest_s) - now)
        return max(LEAST_SLEEP_S, longest_s)

    def _is_still(self) -> bool:
        """Return whether nothing has happened for some turns, this one too, and nothing is to."""
        handled, watched = self._runner.handled, self._watched
        if handled != self._handled_before or watched.at_work or watched.waits_for_tick:
            self._handled_before = handled
            self._still_turns = 0
            return False
        self._still_turns += 1
        return self._still_turns >= STILL_TURNS

    def _rest(self, longest_s: float) -> None:
        """Wait until something comes from outside, but not longer than `longest_s`."""
        if not self._runner.idle:
            self._loop.call_soon(self._go_on)
            return
        self._turning = False
        # One alarm serves many rests: most are over long before, and a timer for each is felt.
        due_s = self._loop.time() + longest_s
        if self._alarm is not None:
            if self._alarm.when() <= due_s:
                return
            self._alarm.cancel()
        self._alarm = self._loop.call_at(due_s, self._ring)

    def _wake(self) -> None:
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._go_on)

    def _ring(self) -> None:
        self._alarm = None
        self._wake()
