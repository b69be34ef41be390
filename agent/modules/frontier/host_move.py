"""A host that changes its address, from the partition of the old one to that of the new one.

    resolve:  Moved(host, new, before), to all partitions
    old:      gives the host no more turns; when nothing of it is under way: HandedOver(host, new)
    new:      has waited for that since Moved; takes the jobs up from the ledger

No partition fetches pages of the host in between, so no page is fetched twice, and the old address
keeps its clock. A runner delivers what is for all to all of them before anything that follows from
it, so the new partition always hears of the move before the host comes. The rest that the host
itself asks for goes with it. The host can move on meanwhile: the old one changes its aim, or, if it
has handed over already, the one in the middle passes it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from agent.modules.frontier.queues import HostQueue
from agent.modules.frontier.registry import Registry
from agent.pipeline.handler import Output
from agent.pipeline.messages.hosts import HandedOver, Moved, Placed
from agent.pipeline.messages.jobs import Job, UnitClosed
from agent.pipeline.partition import Partition

__all__ = ["HostMoves"]


@dataclass(slots=True)
class _Expected:
    """A host that another partition will hand over to us."""

    address: str
    jobs: dict[int, Job] = field(default_factory=dict)  # that were placed here meanwhile


class HostMoves:
    """Hosts that are moving between partitions."""

    def __init__(self, registry: Registry, partition: Partition) -> None:
        self._registry = registry
        self._partition = partition
        self._expected: dict[str, _Expected] = {}
        self._forward: dict[str, str] = {}  # hosts that moved further before they came

    def is_expected(self, placed: Placed, job: Job) -> bool:
        """Return whether a host's queue is still on its way; its new job then waits for it."""
        expected = self._expected.get(placed.host)
        if expected is None:
            return False
        expected.jobs[job.number] = job
        return True

    def moved(self, move: Moved) -> Iterator[Output]:
        """Take note of a move; what follows at once leaves."""
        here = self._registry.hosts.get(move.host)
        if here is None and self._registry.unloaded.any_at(move.before):
            self._registry.address(move.before)
            here = self._registry.hosts.get(move.host)
        to_us = bool(move.address) and self._partition.holds(move.address)
        if here is not None:
            yield from self._from_here(here, move, to_us)
            return
        expected = self._expected.get(move.host)
        if expected is not None and expected.address == move.before:
            yield from self._from_between(expected, move, to_us)
            return
        if to_us:
            self._expect(move)
        if move.address and self._partition.holds(move.before):
            yield "handed", HandedOver(move.host, move.address, ())

    def _from_here(self, host: HostQueue, move: Moved, to_us: bool) -> Iterator[Output]:
        if to_us and move.address != host.address.name:
            host.leaves_to = move.address
            self._expect(move)
            yield from self.hand_over_if_quiet(host)
            return
        # It stays, goes further than was thought, or no longer has an address. Jobs that were
        # placed meanwhile where it does not come now go with the others.
        expected = self._expected.pop(host.name, None)
        for number in expected.jobs if expected is not None else ():
            job = self._registry.open_job(number)
            if job is not None and number not in self._registry.jobs:
                self._registry.add_job(job, host)
        if move.address and move.address != host.address.name:
            host.leaves_to = move.address
            yield from self.hand_over_if_quiet(host)
            return
        host.leaves_to = ""
        if not move.address:
            self._registry.stop(host, f"unreachable: {move.reason}", move.failure)
        for queue in host.jobs.values():
            self._registry.turns.offer_job(queue)
        self._registry.turns.offer_host(host)

    def _from_between(self, expected: _Expected, move: Moved, to_us: bool) -> Iterator[Output]:
        if to_us:
            expected.address = move.address
            return
        del self._expected[move.host]
        if move.address:
            self._forward[move.host] = move.address
            if expected.jobs:  # ahead of the others, which come from the old address
                yield "handed", HandedOver(move.host, move.address, tuple(expected.jobs.values()))
            return
        for number in expected.jobs:
            job = self._registry.open_job(number)
            if job is not None:
                host = self._registry.host(move.host, self._registry.address(move.before))
                self._registry.add_job(job, host)
                self._registry.stop(host, f"unreachable: {move.reason}", move.failure)

    def handed(self, message: HandedOver) -> Iterator[Output]:
        """Take a host up, or pass it on."""
        onward = self._forward.pop(message.host, None)
        if onward is not None:
            yield "handed", replace(message, address=onward)
            return
        expected = self._expected.pop(message.host, None)
        name = message.address if expected is None else expected.address
        name = self._registry.gates.clock(name, message.host)
        jobs = {job.number: job for job in message.jobs}
        if expected is not None:
            jobs |= expected.jobs
        registry, queues = self._registry, []
        for number, job in jobs.items():
            if registry.scope.jobs.numbered(number) is None:
                if job in message.jobs:  # it left the list while it was between us
                    yield "closed", UnitClosed(number, job.unit, message.host)
                continue
            current = registry.open_job(number)
            if current is None or number in registry.jobs:
                continue
            queues.append(
                registry.add_job(current, registry.host(message.host, registry.address(name)))
            )
        host = registry.hosts.get(message.host)
        if host is not None:  # it may have been here: jobs go ahead of the others
            host.not_before_s = max(host.not_before_s, message.not_before_s)
        for queue in queues:
            registry.turns.offer_job(queue)

    def hand_over_if_quiet(self, host: HostQueue) -> Iterator[Output]:
        """Release a host that is to move, once nothing of it is under way."""
        if not host.leaves_to or not host.quiet:
            return
        jobs = tuple(queue.job for queue in host.jobs.values())
        address, not_before_s = host.leaves_to, host.not_before_s
        self._registry.drop_host(host)
        yield "handed", HandedOver(host.name, address, jobs, not_before_s)

    def _expect(self, move: Moved) -> None:
        self._forward.pop(move.host, None)
        expected = self._expected.setdefault(move.host, _Expected(move.address))
        expected.address = move.address
