"""Loading and unloading of addresses: into memory for a turn, out of it while they rest.

Of more addresses than `limits.addresses_in_memory` each one is unloaded when it begins to rest,
and loaded again for its turn (`unloaded`, `address_record`).

Invariant: an address is in memory, or it has a record, or none of its jobs had a turn.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final

from agent.modules.frontier.address_record import due_s, read, record_of
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.frontier.unloaded import Head, Unloaded, key_of
from agent.pipeline.ledger import JobRow, OpenJob
from agent.pipeline.messages.jobs import Job
from agent.pipeline.shared_addresses import address_of

if TYPE_CHECKING:
    from agent.modules.frontier.registry import Registry

__all__ = ["LEAST_INTERVAL_S", "AddressMemory"]

LEAST_INTERVAL_S: Final = 0.1  # where there is none, URLs decide
UNLOADED_A_TICK: Final = 2000
"""Addresses that are looked at, whether they can be unloaded: some ten milliseconds."""


class AddressMemory:
    """Moves of addresses between the memory of a registry and its unloaded jobs."""

    def __init__(self, registry: Registry, unloaded: Unloaded) -> None:
        self._registry = registry
        self.unloaded = unloaded
        # To be unloaded, as far as they can be; each once, or the others would have to wait.
        self._resting: dict[str, AddressQueue] = {}

    def load(self, key: int, name: str = "") -> AddressQueue | None:
        """Bring an unloaded address back into memory, with its jobs; None: it has no record.

        name: what it must be, where that is known: two may have one key.
        """
        head = self.unloaded.head(key)
        if head is None or name not in ("", head.name):
            return None
        address, numbers = self._read(key, head)
        self.unloaded.drop_record(key)
        address.gate = self._registry.gates.of(address.name)
        if address.gate is not None and key in address.gate.ring:
            address.gate.ring[key] = address
            address.listed = True
        for number in numbers:
            self.unloaded.leave(number)
            if self._registry.scope.jobs.numbered(number) is None:
                self.unloaded.changes.left[number] = None
        self._registry.addresses[address.name] = address
        for host in list(address.hosts.values()):
            self._registry.hosts[host.name] = host
            self._registry.jobs.update(host.jobs)
            if not self.unloaded.changes.altered.isdisjoint(host.jobs):
                self._registry.slow(host)
            if not host.jobs:
                self._registry.forget_if_idle(host)
        self.unloaded.changes.altered.difference_update(numbers)
        for host in address.hosts.values():
            for number, queue in host.jobs.items():
                if number in self.unloaded.changes.grown:
                    queue.has_more()
                self._registry.turns.offer_job(queue)
            self._registry.turns.offer_host(host)
        self.unloaded.changes.grown.difference_update(numbers)
        self._registry.turns.offer_address(address)
        return address

    def peek(self, key: int) -> AddressQueue | None:
        """Return a copy of an unloaded address, for a look at it; None: it has no record."""
        head = self.unloaded.head(key)
        return None if head is None else self._read(key, head)[0]

    def load_host(self, name: str) -> HostQueue | None:
        """Return a host, brought into memory with its address where it was unloaded."""
        if name not in self._registry.hosts and self.unloaded.jobs:
            for unit in self._registry.scope.units.of_host(name):
                number = self._registry.scope.units.number(unit)
                if number is None or self.load_job(number) or number not in self.unloaded:
                    continue
                row = self._registry.ledger.job(number)
                if row is not None and row.address:
                    self._registry.address(row.address)
        return self._registry.hosts.get(name)

    def load_job(self, number: int) -> JobQueue | None:
        """Return a job, from its unloaded address where that had turns; None: it is not here."""
        if number in self.unloaded and not self.unloaded.is_fresh(number):
            self.load(self.unloaded.key(number))
        return self._registry.jobs.get(number)

    def has_unloaded(self, number: int) -> bool:
        """Return whether a job is unloaded, or left the list while it was unloaded."""
        return number in self.unloaded or number in self.unloaded.changes.left

    def drop_unloaded(self, number: int) -> None:
        """Drop a job whose address is not in memory."""
        self.unloaded.changes.left.pop(number, None)
        if self.unloaded.is_fresh(number):
            self.unloaded.leave(number)
            return
        queue = self.load_job(number)  # one that is not open is dropped by that already
        if queue is not None:
            self._registry.drop_job(queue)

    @property
    def urls_at_once(self) -> int:
        """Return how many URLs of a queue are read for a turn: 1 where others would be dropped."""
        return (
            1
            if len(self._registry.addresses) > self._registry.limits.addresses_in_memory
            else self._registry.limits.window
        )

    def may_unload(self, address: AddressQueue) -> None:
        """Queue an address to be unloaded, where too many are in memory."""
        if len(self._registry.addresses) > self._registry.limits.addresses_in_memory:
            self._resting[address.name] = address

    def unload_resting(self) -> None:
        """Unload addresses that rest, while too many are in memory.

        Those that cannot be unloaded now are looked at again when what they are in is over.
        """
        most = self._registry.limits.addresses_in_memory
        for name in list(islice(self._resting, UNLOADED_A_TICK)):
            address = self._resting.pop(name)
            if (
                len(self._registry.addresses) > most
                and self._registry.addresses.get(address.name) is address
            ):
                self._unload(address)

    def enter(self, number: int, address: str, urls: int, interval_ms: int) -> None:
        """Register a job at an address that has had no turn."""
        work = _work(urls, interval_ms, self._base_s)
        self.unloaded.enter(number, address, work, self._registry.turns.now_s)

    def take_up(self, jobs: Iterable[OpenJob]) -> None:
        """Register the jobs of the process before this one; those without a URL may be done."""
        base_s = self._base_s
        numbers, keys, work = array("q"), array("q"), array("f")
        for job in jobs:
            if job.address:
                numbers.append(job.number)
                keys.append(key_of(self._current_clock(job)))
                work.append(_work(job.queued, job.interval_ms, base_s))
            if not job.queued:
                self._registry.dirty[job.number] = None
        self.unloaded.fill(numbers, keys, work, self._registry.turns.now_s)

    def _current_clock(self, job: OpenJob) -> str:
        """Return the clock of a job; where the rule of its address changed, the ledger hears it."""
        gates, clock = self._registry.gates, job.address
        if (" " in clock) == (address_of(clock) in gates.rules):
            return clock
        row = self._registry.ledger.job(job.number)
        if row is not None:
            clock = gates.clock(clock, row.host)
            self._registry.ledger.place_job(job.number, row.host, clock)
        return clock

    def grow(self, job: Job) -> None:
        """Note that an unloaded job has one URL more, at least."""
        number, unloaded = job.number, self.unloaded
        if unloaded.is_fresh(number):
            unloaded.grow(number, _work(1, job.interval_ms or 0, self._base_s))
        elif unloaded.is_idle(unloaded.key(number)):
            queue = self.load_job(number)
            if queue is not None:
                queue.has_more()
                self._registry.turns.offer_job(queue)
                self.may_unload(queue.host.address)
        else:
            self.unloaded.changes.grown.add(number)

    def begin_first_turn(self, number: int) -> AddressQueue | None:
        """Bring an address into memory for its first turn, by one of its jobs.

        It has rested since the job came. None: it is in memory, or nothing of it is left.
        """
        row = self._registry.ledger.job(number)
        if (
            row is None
            or row.address in self._registry.addresses
            or self.unloaded.has(key_of(row.address))
        ):
            self.unloaded.leave(number)
            if row is not None:
                self._add_fresh_job(row, self._registry.address(row.address))
            return None
        since_s = self.unloaded.since_s(number)
        address = self._registry.address(row.address)
        self.unloaded.leave(number)
        self._registry.arrivals.pop()
        address.arriving = False
        address.not_before_s = since_s + max(self._registry.pace.base_s(None), address.first_rest_s)
        self._registry.backing_off.resume(
            address, self._registry.turns.now_s, self._registry.pace.longest_s
        )
        if address.empty:
            self._registry.forget_address_if_idle(address)
            return None
        return address

    def first_due_s(self, number: int) -> float:
        """Return when the address of a job has its first turn, if nothing asks for more rest."""
        return self.unloaded.since_s(number) + self._registry.pace.base_s(None)

    def add_fresh_jobs(self, address: AddressQueue) -> None:
        """Bring the jobs of an address into memory that wait for its first turn, as they came."""
        at_it = self._registry.ledger.jobs_at(address.name)
        rows = [row for row in at_it if row.job.number in self.unloaded]
        for row in sorted(rows, key=lambda row: self.unloaded.since_s(row.job.number)):
            self.unloaded.leave(row.job.number)
            self._add_fresh_job(row, address)

    def _read(self, key: int, head: Head) -> tuple[AddressQueue, list[int]]:
        record = self.unloaded.record(key)
        assert record is not None
        return read(head, record, self._registry.scope.jobs.numbered, self._registry.limit)

    def _unload(self, address: AddressQueue) -> None:
        key = key_of(address.name)
        if not address.hosts or self.unloaded.has(key):
            return
        record = record_of(address, self._registry.dirty)
        if record is None:
            return
        next_s, is_idle = due_s(address), False
        head = Head(next_s, self._registry.work_left(address), address.strikes, address.name)
        del self._registry.addresses[address.name]
        numbers: list[int] = []
        for host in address.hosts.values():
            del self._registry.hosts[host.name]
            for number, queue in host.jobs.items():
                del self._registry.jobs[number]
                numbers.append(number)
                is_idle = is_idle or not queue.wants_turn
                _leave_wheel(queue)
            _leave_wheel(host)
        _leave_wheel(address)
        self.unloaded.keep(key, numbers, head, record, is_idle=is_idle)
        if address.gate is not None:
            self.unloaded.gates[key] = address.gate
            if address.listed:
                address.gate.ring[key] = None
                return
        if next_s < math.inf:
            self._registry.turns.let_rest(key, next_s)

    def _add_fresh_job(self, row: JobRow, address: AddressQueue) -> None:
        job = self._registry.open_job(row.job.number)
        if job is not None and job.number not in self._registry.jobs:
            self._registry.turns.offer_job(
                self._registry.add_job(job, self._registry.host(row.host, address), row)
            )

    @property
    def _base_s(self) -> float:
        """Return the interval of an address that nothing is known of."""
        return max(self._registry.pace.base_s(None), LEAST_INTERVAL_S)


def _work(urls: int, interval_ms: int, base_s: float) -> float:
    """Return URLs times interval of one job that nothing is known of."""
    return max(urls, 1) * max(base_s, interval_ms / 1000) * 10


def _leave_wheel(sleeper: AddressQueue | HostQueue | JobQueue) -> None:
    """Take the object of an unloaded address, host or job out of the wheel."""
    if sleeper.resting is not None:
        sleeper.resting[0] = None
        sleeper.resting = None
