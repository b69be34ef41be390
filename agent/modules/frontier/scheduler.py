"""Scheduler of addresses: ready ones, resting ones, and the parallel places.

Offering is the one verb: whatever could use a turn is offered to the ring above it, or to the
timing wheel if it must rest first; what is in a ring or in the wheel already is left there. So
each thing is in one place at a time, and an event costs the same however many there are.

At most `parallel` addresses are crawled at a time. An address keeps its place until nothing of it
is left, or until it rests for long while others wait. Free places go to those that will take
longest: most URLs times interval (a heap, touched once an address, not once a URL). A robots.txt
behind a redirect needs no place: a host that has one waits for it.
Source: seed 000, 5.2.1; design rule "longest first": seed 004 balances by what is left.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator

from agent.modules.frontier.dormant import Dormant
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.timing_wheel import TimingWheel

__all__ = ["Sleeper", "Turns"]

Sleeper = AddressQueue | HostQueue | JobQueue


class Turns:
    """The rings and the wheel. `now_s` is the latest time that anybody told."""

    def __init__(
        self,
        parallel: int,
        patience_s: float,
        work_left: Callable[[AddressQueue], int],
        dormant: Dormant,
        wake: Callable[[int], AddressQueue | None],
    ) -> None:
        """Begin without sleepers.

        work_left: what an address has left to do; asked when it begins to wait for a place. wake:
        takes up the address of a dormant job; None: nothing is left of it.
        """
        self._dormant = dormant
        self._wake = wake
        self.now_s = 0.0
        self.ready: deque[AddressQueue] = deque()
        self.active = 0
        self.parallel = parallel
        self._patience_s = patience_s
        self._work_left = work_left
        self._wheel: TimingWheel[Sleeper] | None = None
        self._early: list[tuple[Sleeper, float]] = []  # before the first tick the time is unknown
        self._queue: list[tuple[int, int, AddressQueue]] = []
        self._entered = 0

    @property
    def waiting(self) -> int:
        """Return how many addresses wait for a place, at most."""
        return len(self._queue) + self._dormant.jobs

    def offer_job(self, job: JobQueue) -> None:
        """See to a job's next turn."""
        if job.listed or job.sleeping or not job.wants_turn:
            return
        if job.not_before_s > self.now_s:
            self._sleep(job, job.not_before_s)
            return
        job.listed = True
        job.host.turns.append(job)
        self.offer_host(job.host)

    def offer_host(self, host: HostQueue) -> None:
        """See to a host's next turn."""
        if host.listed or host.sleeping or not host.wants_turn:
            return
        if host.not_before_s > self.now_s:
            self._sleep(host, host.not_before_s)
            return
        host.listed = True
        host.address.turns.append(host)
        self.offer_address(host.address)

    def offer_address(self, address: AddressQueue) -> None:
        """See to an address's next turn."""
        if address.listed or address.sleeping or not address.wants_turn:
            return
        if not address.placed and not address.rules:
            self._wait_for_place(address)
        elif address.not_before_s > self.now_s:
            if self.waiting and address.not_before_s - self.now_s > self._patience_s:
                self.give_up_place(address)
            self._sleep(address, address.not_before_s)
        else:
            address.listed = True
            self.ready.append(address)

    def sleep_until(self, sleeper: Sleeper, due_s: float) -> None:
        """Schedule a later look, unless one is scheduled."""
        if not sleeper.sleeping:
            self._sleep(sleeper, due_s)

    def note_time(self, now_s: float) -> None:
        """Learn that it is so late already: without a rest, a turn need not wait for a tick."""
        self.now_s = max(self.now_s, now_s)

    def advance(self, now_s: float) -> list[Sleeper]:
        """Move the clock; return the sleepers that have rested enough, not offered yet."""
        self.now_s = now_s
        if self._wheel is None:
            self._wheel = TimingWheel(now_s)
        for sleeper, due_s in self._early:
            self._wheel.add(sleeper, due_s)
        self._early.clear()
        awake = self._wheel.advance(now_s)
        for sleeper in awake:
            sleeper.sleeping = False
        return awake

    def next_s(self, within_s: float) -> float:
        """Return when the next sleeper has rested enough, if within so long; else `inf`."""
        return math.inf if self._wheel is None else self._wheel.next_s(within_s)

    def sleepers(self) -> Iterator[tuple[float, Sleeper]]:
        """Yield who rests, and until when at least; whoever rests longest first."""
        return iter(()) if self._wheel is None else self._wheel.latest()

    def give_places(self) -> None:
        """Give free places to the addresses that will take longest."""
        while self.active < self.parallel and self.waiting:
            work, number = self._dormant.best() if self._dormant.jobs else (0.0, 0)
            if number and (not self._queue or -self._queue[0][0] < work):
                address = self._wake(number)
                if address is None:
                    continue
            else:
                left, _, address = heapq.heappop(self._queue)
                if address.placed or address.waiting != -left:
                    continue  # an older entry of an address that has grown or got its place
            address.waiting = 0
            if address.wants_turn and not address.placed:
                address.placed = True
                self.active += 1
                self.offer_address(address)

    def give_up_place(self, address: AddressQueue) -> None:
        """Take an address's place away."""
        if address.placed:
            address.placed = False
            self.active -= 1

    def has_grown(self, address: AddressQueue) -> None:
        """Note that an address has more to do: one that waits may move forward."""
        if address.waiting and not address.placed:
            address.grown += 1
            if address.grown >= address.waiting:  # twice as much: counting stays cheap
                address.waiting = 0
                self._wait_for_place(address)

    def _wait_for_place(self, address: AddressQueue) -> None:
        if address.waiting:
            return
        address.waiting = max(1, self._work_left(address))
        address.grown = 0
        self._entered += 1
        heapq.heappush(self._queue, (-address.waiting, self._entered, address))

    def _sleep(self, sleeper: Sleeper, due_s: float) -> None:
        sleeper.sleeping = True
        if self._wheel is None:
            self._early.append((sleeper, due_s))
        else:
            self._wheel.add(sleeper, due_s)
