"""Scheduler of addresses: ready ones and resting ones.

Offering is the one verb: whatever could use a turn is offered to the ring above it, or to the
timing wheel if it must rest first; what is in a ring or in the wheel already is left there. So
each thing is in one place at a time, and an event costs the same however many there are.

Every address with work is here, none has a place that others wait for: the ring of ready addresses
is worked off in the order in which they became ready. So each host has its first page within
addresses / rate of its start. Only where several have rested enough at the same moment, those come
first that will take longest. An address that is not in memory is here by its key (`unloaded`).
Source: seed 000, 5.2.1 (every address has a turn in each step).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator

from agent.modules.frontier.gates import Gate
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.frontier.unloaded import key_of
from agent.modules.timing_wheel import TimingWheel

__all__ = ["Resting", "Sleeper", "Turns"]

Sleeper = AddressQueue | HostQueue | JobQueue | Gate

Resting = list[Sleeper | None]
"""What the wheel holds of a sleeper, in a list of one: None when it was unloaded meanwhile."""


class Turns:
    """The rings and the wheel. `now_s` is the latest time that anybody told."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.ready: deque[AddressQueue | Gate | int] = deque()
        self._wheel: TimingWheel[Resting | int] | None = None
        self._early: list[tuple[Resting | int, float]] = []  # before the first tick

    def offer_job(self, job: JobQueue) -> None:
        """See to a job's next turn."""
        if job.listed or job.resting or not job.wants_turn:
            return
        if job.not_before_s > self.now_s:
            self._sleep(job, job.not_before_s)
            return
        job.listed = True
        job.host.turns.append(job)
        self.offer_host(job.host)

    def offer_host(self, host: HostQueue) -> None:
        """See to a host's next turn."""
        if host.listed or host.resting or not host.wants_turn:
            return
        if host.not_before_s > self.now_s:
            self._sleep(host, host.not_before_s)
            return
        host.listed = True
        host.address.turns.append(host)
        self.offer_address(host.address)

    def offer_address(self, address: AddressQueue) -> None:
        """See to an address's next turn."""
        if address.listed or address.resting or address.arriving or not address.wants_turn:
            return
        if address.not_before_s > self.now_s:
            self._sleep(address, address.not_before_s)
            return
        address.listed = True
        if address.gate is None:
            self.ready.append(address)
        else:
            address.gate.ring[key_of(address.name)] = address
            self.offer_gate(address.gate)

    def offer_gate(self, gate: Gate) -> None:
        """See to the next turn of a shared address."""
        if gate.listed or gate.resting or gate.waits_for or not gate.ring:
            return
        if gate.not_before_s > self.now_s:
            self._sleep(gate, gate.not_before_s)
        else:
            gate.listed = True
            self.ready.append(gate)

    def sleep_until(self, sleeper: Sleeper, due_s: float) -> None:
        """Schedule a later look, unless one is scheduled."""
        if not sleeper.resting:
            self._sleep(sleeper, due_s)

    def let_rest(self, key: int, due_s: float) -> None:
        """Schedule the turn of an address that is not in memory."""
        self._add(key, due_s)

    def note_time(self, now_s: float) -> None:
        """Learn that it is so late already: without a rest, a turn need not wait for a tick."""
        self.now_s = max(self.now_s, now_s)

    def advance(self, now_s: float) -> list[Sleeper | int]:
        """Move the clock; return the sleepers that have rested enough, not offered yet."""
        self.now_s = now_s
        if self._wheel is None:
            self._wheel = TimingWheel(now_s)
        for thing, due_s in self._early:
            self._wheel.add(thing, due_s)
        self._early.clear()
        awake: list[Sleeper | int] = []
        for thing in self._wheel.advance(now_s):
            if isinstance(thing, int):
                awake.append(thing)
                continue
            sleeper = thing[0]
            if sleeper is not None:
                sleeper.resting = None
                awake.append(sleeper)
        return awake

    def next_s(self, within_s: float) -> float:
        """Return when the next sleeper has rested enough, if within so long; else `inf`."""
        return math.inf if self._wheel is None else self._wheel.next_s(within_s)

    def sleepers(self) -> Iterator[tuple[float, Sleeper | int]]:
        """Yield who rests, and until when at least; whoever rests longest first."""
        for due_s, thing in () if self._wheel is None else self._wheel.latest():
            if isinstance(thing, int):
                yield due_s, thing
            elif thing[0] is not None:
                yield due_s, thing[0]

    def _sleep(self, sleeper: Sleeper, due_s: float) -> None:
        sleeper.resting = [sleeper]
        self._add(sleeper.resting, due_s)

    def _add(self, thing: Resting | int, due_s: float) -> None:
        if self._wheel is None:
            self._early.append((thing, due_s))
        else:
            self._wheel.add(thing, due_s)
