"""The whole crawl as splits see it: loads by agent and address, hosts, and how they can be cut.

Of all units only numbers are kept; directories, distances and names are read of the few hosts that
are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from manager.balancing.arrays import IntArray
from manager.balancing.forecast.agent_load import AgentLoad, CrawlForecast, HostPart
from manager.balancing.forecast.predictor import AddressLoad
from manager.balancing.forecast.split_forecast import PieceSize, SplitChoice
from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import hosts, pieces
from manager.db.hosts.hosts import HostRow
from manager.db.measurement import measurements
from manager.db.ownership import pins
from manager.db.rounds import round_work
from manager.errors import ConflictError
from manager.operations.hosts.idle_hosts import check_alone
from manager.operations.hosts.splits.pieces import (
    USUAL_PIECES,
    Directories,
    cut_host,
    directories_of,
    part_of,
    pause_of,
    takers_of,
)
from manager.operations.ownership.agent_capacity import capacity_of
from manager.operations.ownership.reassignment import members
from manager.operations.planning.work_left import SizedUnits, agent_loads, size_units, units_left
from manager.operations.policy import Policy
from shared.messages import Message

__all__ = ["CrawlView", "view_crawl"]

COUNTS: Final = (2, 3, 4, 6, USUAL_PIECES)
"""Numbers of pieces that are tried."""


@dataclass
class CrawlView:
    """A crawl by present owners. wait_ms: how much later pieces end: two polls.

    obstacles: why hosts that were looked at cannot be split, by address.
    """

    tx: Transaction
    policy: Policy
    now_ms: int
    sized: SizedUnits
    rows: dict[int, AgentRow]
    forecast: CrawlForecast
    wait_ms: float
    obstacles: dict[int, Message] = field(default_factory=dict)

    def units_at(self, address: int) -> IntArray:
        """Return the units of an address, as rows of `sized`."""
        return np.flatnonzero(self.sized.group == address)

    def part(self, units: IntArray) -> HostPart:
        """Return some units of a host as one."""
        sized = self.sized
        return HostPart(
            float(sized.requests[units].sum()),
            float(sized.volume_kb[units].sum()),
            float(sized.transfer_ms[units].sum()),
        )

    def ways(self, address: int, owner: int) -> Sequence[SplitChoice]:
        """Return the ways in which a host can be split, fewest pieces first (`choose_splits`)."""
        try:
            return self._ways(address, owner)
        except ConflictError as error:
            self.obstacles[address] = error.message
            return []

    def obstacle(self, address: int) -> Message | None:
        """Return why a host cannot be split, without a look at its directories' cuts."""
        if address not in self.obstacles:
            try:
                self._splittable(address)
            except ConflictError as error:
                self.obstacles[address] = error.message
        return self.obstacles.get(address)

    def _splittable(self, address: int) -> tuple[HostRow, int, list[AgentRow], Directories]:
        host = hosts.by_ids(self.tx, [address])[address]
        top = pieces.unit_ids(self.tx, host.id)["/"]
        units = hosts.units_of_hosts(self.tx, [host.key])
        if len(units) > 1:
            raise ConflictError("hosts.already_split", host=host.key)
        check_alone(self.tx, host)
        pinned = [pin for pin in pins.pins_in_groups(self.tx, [top]) if pin.unit_id == top]
        if pinned:
            raise ConflictError(
                "hosts.pinned_whole", host=host.key, agent=self.rows[pinned[0].agent_id].name
            )
        return host, top, takers_of(self.tx, host, top), directories_of(self.tx, host)

    def _ways(self, address: int, owner: int) -> list[SplitChoice]:
        host, top, taking, found = self._splittable(address)
        pause_ms = pause_of(self.tx, host.id, top, found, self.policy)
        speeds = {
            row.agent_id: row.ms_per_kb
            for row in measurements.distances_of_units(self.tx, [top])
            if row.ms_per_kb is not None
        }
        whole = self.part(self.units_at(address))
        own_speed = whole.transfer_ms / whole.volume_kb
        ways = []
        for count in COUNTS:
            if count > len(taking):
                break
            made = cut_host(host, found, count, pause_ms)
            if len(made.parts) < count:
                break
            shares = _shares(found, part_of(made, host, found.sizes), count)
            pieces_made = tuple(
                PieceSize(
                    row.id,
                    requests * whole.requests,
                    volume * whole.volume_kb,
                    volume * whole.volume_kb * speeds.get(row.id, own_speed),
                )
                for row, (requests, volume) in zip(taking, shares, strict=False)
            )
            ways.append(SplitChoice(address, owner, pause_ms, pieces_made))
        return ways


def _shares(found: Directories, where: dict[str, int], count: int) -> list[tuple[float, float]]:
    """Return the shares of the requests and of the bytes that each part has."""
    requests, volume = [0.0] * count, [0.0] * count
    for path, size in found.sizes.items():
        requests[where[path]] += size.requests
        volume[where[path]] += size.size_bytes
    total, total_bytes = sum(requests) or 1.0, sum(volume)
    return [
        (one / total, kb / total_bytes if total_bytes else one / total)
        for one, kb in zip(requests, volume, strict=True)
    ]


def view_crawl(tx: Transaction, policy: Policy, now_ms: int) -> CrawlView:
    """Read the whole crawl by present owners, as if it started now."""
    sized = size_units(units_left(round_work.owned_units(tx)))
    rows = {row.id: row for row in agents.all_agents(tx)}
    loads = agent_loads(sized, {number: capacity_of(row) for number, row in rows.items()})
    for row in members(tx):
        loads.setdefault(row.id, _idle(row))
    wait_ms = 2000 * policy.sync_interval_s
    split = np.unique(sized.group[sized.shared_ms > 0])
    loads = {number: load.later(split, wait_ms) for number, load in loads.items()}
    forecast = CrawlForecast.of(loads, now_ms)
    return CrawlView(tx, policy, now_ms, sized, rows, forecast, wait_ms)


def _idle(row: AgentRow) -> AgentLoad:
    capacity, none = capacity_of(row), np.empty(0)
    load = AddressLoad(none, none, none, none)
    return AgentLoad(capacity, capacity.fast_bytes_per_ms, np.empty(0, dtype=np.intp), load)
