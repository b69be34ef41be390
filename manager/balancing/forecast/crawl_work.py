"""Work of a crawl: requests, bytes and rests of the units, and the time that agents take for them.

Transfer costs say how far units are; here is what else takes time. `ends` predicts when each agent
has ended the units that a plan gives it, by the clock; `TimeCosts` has the same for each pair of
agent and atom, for methods that look for the earliest end.
Invariant: distances are those that were measured, without the weight of an agent's capacity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray, Matrix
from manager.balancing.forecast.predictor import (
    AddressLoad,
    address_loads,
    crawl_ms,
    fast_threshold,
)
from manager.balancing.forecast.work_duration import Availability, Capacity

__all__ = ["TimeCosts", "Work"]


@dataclass(frozen=True)
class Work:
    """Inputs of the time that agents take.

    relative: (agents,) by which the costs of a problem were divided. requests, volume_kb: (units,),
    robots.txt included. address: (units,) those of one have one clock. pause_ms: (units,) between
    two requests to a host by its Crawl-delay or because it is split, 0: neither; each owner of a
    piece rests as many times as long as there are owners. start_ms: epoch milliseconds of the
    start.
    """

    capacities: tuple[Capacity, ...]
    relative: FloatArray
    requests: FloatArray
    volume_kb: FloatArray
    address: IntArray
    pause_ms: FloatArray
    split: IntArray
    start_ms: int
    fast_bytes_per_ms: FloatArray

    @staticmethod
    def of(
        capacities: Sequence[Capacity],
        costs: Matrix,
        requests: FloatArray,
        volume_kb: FloatArray,
        address: IntArray,
        *,
        start_ms: int = 0,
        pause_ms: FloatArray | None = None,
        relative: FloatArray | None = None,
    ) -> Work:
        """Return the inputs for a matrix of transfer costs that no capacity weighs yet.

        relative: by which they are going to be divided. A split host is alone at its address.
        """
        fast = [
            fast_threshold(row.astype(np.float64), volume_kb, agent)
            for row, agent in zip(costs, capacities, strict=True)
        ]
        return Work(
            capacities=tuple(capacities),
            relative=np.ones(len(capacities)) if relative is None else relative,
            requests=requests,
            volume_kb=volume_kb,
            address=address,
            pause_ms=np.zeros(len(requests)) if pause_ms is None else pause_ms,
            split=address,
            start_ms=start_ms,
            fast_bytes_per_ms=np.array(fast),
        )

    def availability(self) -> list[Availability]:
        """Return the hours of each agent."""
        return [Availability(agent, self.start_ms) for agent in self.capacities]

    def own_rest_ms(self, owner: IntArray) -> FloatArray:
        """Return (units,) how long hosts rest by themselves where units have these owners."""
        rest = np.zeros(len(owner))
        pieces = np.flatnonzero((self.pause_ms > 0) & (owner >= 0))
        if len(pieces):
            pairs = np.unique(np.stack((self.split[pieces], owner[pieces])), axis=1)
            hosts, owners = np.unique(pairs[0], return_counts=True)
            rest[pieces] = (
                self.pause_ms[pieces] * owners[np.searchsorted(hosts, self.split[pieces])]
            )
        return rest

    def load(
        self, agent: int, costs: Matrix, mine: IntArray, own_rest_ms: FloatArray
    ) -> AddressLoad:
        """Return the load of an agent's units, `mine`, by address. costs: (agents, units)."""
        _, address = np.unique(self.address[mine], return_inverse=True)
        count = int(address.max()) + 1 if len(address) else 0
        return self._load(agent, costs, mine, own_rest_ms, address.astype(np.intp), count)

    def _load(
        self,
        agent: int,
        costs: Matrix,
        mine: IntArray,
        own_rest_ms: FloatArray,
        address: IntArray,
        count: int,
    ) -> AddressLoad:
        return address_loads(
            costs[agent, mine].astype(np.float64) * self.relative[agent],
            self.requests[mine],
            self.volume_kb[mine],
            own_rest_ms[mine],
            address,
            count,
            self.capacities[agent],
            float(self.fast_bytes_per_ms[agent]),
        )

    def work_ms(self, costs: Matrix, owner: IntArray) -> FloatArray:
        """Return (agents,) how long each works while it is open and its machine is calm."""
        rest = self.own_rest_ms(owner)
        return np.array(
            [
                crawl_ms(self.load(number, costs, np.flatnonzero(owner == number), rest), agent)
                for number, agent in enumerate(self.capacities)
            ]
        )

    def ends_ms(self, costs: Matrix, owner: IntArray) -> FloatArray:
        """Return (agents,) how long after the start each has ended; inf: never."""
        work = self.work_ms(costs, owner)
        hours = self.availability()
        return np.array([float(one.end_of(work[[number]])[0]) for number, one in enumerate(hours)])

    def network_ms(self, costs: Matrix, owner: IntArray) -> float:
        """Return the network cost: bytes times distance of all units that have an owner."""
        held = np.flatnonzero(owner >= 0)
        mine = owner[held]
        return float((costs[mine, held].astype(np.float64) * self.relative[mine]).sum())

    def time_costs(
        self, costs: Matrix, before: IntArray, of_unit: IntArray, allowed: Matrix
    ) -> TimeCosts:
        """Return the time of each agent and atom.

        of_unit: (units,) atom of each. allowed: (agents, atoms) inf where the agent may not have
        it. A split host is taken to keep as many owners as it has.
        """
        count = allowed.shape[1]
        alone, load = np.empty_like(allowed), np.empty_like(allowed)
        network = np.empty_like(allowed)
        rest = self.own_rest_ms(before)
        everything = np.arange(len(of_unit), dtype=np.intp)
        for number, agent in enumerate(self.capacities):
            row = self._load(number, costs, everything, rest, of_unit, count)
            barred = np.isinf(allowed[number])
            alone[number] = np.where(barred, np.inf, row.alone_ms)
            network[number] = np.where(barred, np.inf, row.busy_ms)
            held = row.busy_ms / agent.connections
            if agent.bytes_per_s:
                network_limited = row.volume_kb * 1e6 / agent.bytes_per_s
                # One of the two, for a sum of the greater ones would be no bound.
                held = max(held, network_limited, key=lambda one: float(one.sum()))
            load[number] = np.where(barred, np.inf, held)
        connections = np.array([float(agent.connections) for agent in self.capacities])
        kb = np.bincount(of_unit, weights=self.volume_kb, minlength=count).astype(np.float64)
        disks = [np.inf if one.room_kb is None else one.room_kb for one in self.capacities]
        return TimeCosts(
            alone, load, network, connections, kb, np.array(disks), self.availability()
        )


@dataclass(frozen=True)
class TimeCosts:
    """Times of each agent and atom, (agents, atoms); inf where the agent may not have it.

    alone_ms: of work until it ends where it is the only one. load_ms: of work that it takes of the
    agent's connections, or of its network where that is scarcer. network_ms: bytes times distance.
    connections: (agents,). volume_kb: (atoms,). disk_kb: (agents,) what the disk takes, inf: not
    known.
    """

    alone_ms: Matrix
    load_ms: Matrix
    network_ms: Matrix
    connections: FloatArray
    volume_kb: FloatArray
    disk_kb: FloatArray
    hours: list[Availability]

    def room_ms(self, end_ms: float) -> FloatArray:
        """Return (agents,) the work that each can do until an end."""
        return np.array([float(one.work_at(np.array([end_ms]))[0]) for one in self.hours])

    def longest_ms(self) -> float:
        """Return an end before which some atom cannot end, wherever it is."""
        if not self.alone_ms.shape[1]:
            return 0.0
        ends = np.full(self.alone_ms.shape[1], np.inf)
        for row, one in zip(self.alone_ms, self.hours, strict=True):
            finite = np.flatnonzero(np.isfinite(row))
            ends[finite] = np.minimum(ends[finite], one.end_of(row[finite].astype(np.float64)))
        known = ends[np.isfinite(ends)]
        return float(known.max()) if len(known) else 0.0
