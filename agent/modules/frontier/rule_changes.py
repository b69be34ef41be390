"""Changes of the rules of shared addresses: hosts go from the clocks of one rule to the others.

Invariant: no interval is violated in between. The new clocks begin with a rest, as all do, and
stand behind a gate that is closed while a request of an old clock is under way and for an interval
after it. Hosts go over as they do when they move (`host_move`): once nothing of them is under way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.modules.frontier.gates import Gate
from agent.modules.frontier.host_move import HostMoves
from agent.modules.frontier.queues import AddressQueue
from agent.modules.frontier.registry import Registry
from agent.modules.frontier.unloaded import key_of
from agent.pipeline.handler import Output
from agent.pipeline.messages.hosts import Moved
from agent.pipeline.partition import Partition
from agent.pipeline.shared_addresses import SharedRules, address_of
from shared.urls import host_of

__all__ = ["RuleChanges"]


class RuleChanges:
    """The rules that are wanted, and the work to put them in force."""

    def __init__(self, registry: Registry, moving: HostMoves, partition: Partition) -> None:
        self.wanted: SharedRules | None = None
        self._registry = registry
        self._moving = moving
        self._partition = partition

    def apply(self) -> Iterator[Output]:
        """Put the wanted rules in force, and look up the back-off of new gates."""
        registry, wanted = self._registry, self.wanted
        if wanted is not None:
            self.wanted = None
            before, registry.gates.rules = registry.gates.rules, wanted
            for address in sorted(before.keys() ^ wanted.keys()):
                if self._partition.holds(address):
                    yield from self._change(address)
            for gate in registry.gates:
                if gate.rule is not None and gate.address in wanted:
                    gate.rule = wanted[gate.address]
                    rested_s = gate.started_s + gate.interval_s(registry.pace.politeness)
                    gate.not_before_s = max(gate.not_before_s, rested_s)
        for gate in registry.gates.fresh:
            registry.backing_off.resume_gate(gate, registry.turns.now_s, registry.pace.longest_s)
        registry.gates.fresh.clear()

    def _change(self, address: str) -> Iterator[Output]:
        registry = self._registry
        rows = self._fresh_jobs(address)
        old = self._old_clocks(address)
        gate = registry.gates.open(address)
        politeness = registry.pace.politeness
        rested_s = registry.turns.now_s + politeness.interval_s
        gate.not_before_s = max(gate.not_before_s, rested_s)
        gate.ring.clear()
        for clock in old:
            self._close(clock, gate)
        for number, key in rows:
            registry.unloaded.leave(number)
            clock_name = registry.gates.clock(address, key)
            registry.ledger.place_job(number, key, clock_name)
            job = registry.open_job(number)
            if job is not None:
                urls = registry.ledger.queued(number)
                registry.address_memory.enter(number, clock_name, urls, job.interval_ms or 0)
        for clock in old:
            for host in list(clock.hosts.values()):
                name = registry.gates.clock(host.leaves_to or address, host.name)
                yield from self._moving.moved(Moved(host.name, name, clock.name))
            waiting, clock.rules = clock.rules or (), None
            for rules in waiting:
                name = registry.gates.clock(address, host_of(rules.url))
                registry.address(name).ask_for(replace(rules, clock=name))
                registry.turns.offer_address(registry.address(name))
            registry.turns.offer_address(clock)
            registry.forget_address_if_idle(clock)

    def _close(self, clock: AddressQueue, gate: Gate) -> None:
        """Give an old clock no more turns, and let the new ones wait for its request."""
        is_current = (" " in clock.name) == (gate.rule is not None)
        clock.end_burst()
        gate.not_before_s = max(gate.not_before_s, clock.not_before_s)
        gate.strikes = max(gate.strikes, clock.strikes)
        clock.gate = gate if is_current else None
        if clock.listed:
            clock.listed = False
            ready = self._registry.turns.ready
            if clock in ready:
                ready.remove(clock)
        if clock.holder is not None:
            clock.leaving = gate
            gate.waits_for.add(clock.name)

    def _fresh_jobs(self, address: str) -> list[tuple[int, str]]:
        """Return the jobs of an address that wait for the first turn of their clocks."""
        registry = self._registry
        found = []
        for one in registry.ledger.open_jobs():
            if address_of(one.address) == address and registry.unloaded.is_fresh(one.number):
                row = registry.ledger.job(one.number)
                if row is not None:
                    found.append((one.number, row.host))
        return found

    def _old_clocks(self, address: str) -> list[AddressQueue]:
        """Bring the clocks of an address into memory."""
        registry = self._registry
        keys = [key for key, gate in registry.unloaded.gates.items() if gate.address == address]
        for key in [key_of(address), *keys]:
            registry.address_memory.load(key)
        return [one for one in registry.addresses.values() if one.address == address]
