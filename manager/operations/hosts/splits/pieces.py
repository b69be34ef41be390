"""Pieces of a host: its directories by the newest crawl, who takes them, and the pause they keep.

Invariant: the pause between two requests, of all agents together, is what the host's owner keeps
alone, unless its robots.txt (`crawl_delays`) or a person (`policy.split_interval_s`,
`--interval-s`) chose another. So a split never raises the rate at an address by itself. Rests of
fast hosts are not counted on: whether a host is fast is known to its agent only.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from manager.balancing.forecast.agent_load import AgentLoad, HostPart
from manager.balancing.forecast.predictor import AddressLoad
from manager.balancing.forecast.work_duration import DEFAULT_CAPACITY, Capacity
from manager.balancing.pieces import Cut, cut
from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import crawl_delays, directories
from manager.db.hosts.hosts import HostRow
from manager.db.measurement import measurements
from manager.db.ownership import assignments, pins
from manager.errors import ConflictError
from manager.operations.hosts.crawl_delays import agreed_ms
from manager.operations.ownership.agent_capacity import capacity_of
from manager.operations.ownership.reassignment import members
from manager.operations.policy import Policy
from shared.frozen import frozen
from shared.units import UnitIndex

__all__ = [
    "INTERVAL_MOST_S",
    "MOST_PIECES",
    "USUAL_PIECES",
    "Directories",
    "DirectorySize",
    "Piece",
    "cut_host",
    "directories_of",
    "is_by_robots",
    "part_of",
    "pause_of",
    "pieces_of",
    "takers_of",
]

INTERVAL_MOST_S: Final = 86_400
MOST_PIECES: Final = 64
USUAL_PIECES: Final = 8
WORTHLESS: Final = 0.9
"""Share of the work: if one agent had as much, a split would be of no use."""
LONGEST_PATH: Final = 500


@frozen
class Piece:
    """An agent's part of a split host. share: of the work, between 0 and 1."""

    agent: str
    units: tuple[str, ...]
    pages: int
    size_bytes: int
    share: float


@dataclass(slots=True)
class DirectorySize:
    """Size of a directory by the newest crawl. ms: of waiting for its answers."""

    requests: float = 0.0
    pages: int = 0
    size_bytes: int = 0
    ms: float = 0.0


@dataclass(frozen=True)
class Directories:
    """Directories of a host in the newest crawl that names them; `/` is always among them."""

    round: int
    sizes: Mapping[str, DirectorySize]

    def whole(self) -> HostPart:
        """Return all of the host."""
        sizes = self.sizes.values()
        return HostPart(
            requests=max(1.0, sum(size.requests for size in sizes)),
            volume_kb=sum(size.size_bytes for size in sizes) / 1000,
            transfer_ms=float(sum(size.ms for size in sizes)),
        )


def takers_of(tx: Transaction, host: HostRow, top: int) -> list[AgentRow]:
    """Return who could take a piece: the owner first, then the nearest."""
    groups = [] if host.group_id is None else [host.group_id]
    banned = {ban.agent_id for ban in pins.bans_of_hosts(tx, group_ids=groups)}
    taking = [row for row in members(tx) if not row.is_plain and row.id not in banned]
    if len(taking) < 2:
        raise ConflictError("hosts.too_few_agents", host=host.key, agents=len(taking))
    owner = assignments.owners_of(tx, [top]).get(top)
    far = {row.agent_id: row.ms_per_kb for row in measurements.distances_of_units(tx, [top])}

    def order(row: AgentRow) -> tuple[bool, bool, float, float, int]:
        distance = far.get(row.id)
        return row.id != owner, distance is None, distance or 0.0, row.load_ms, row.id

    return sorted(taking, key=order)


def directories_of(tx: Transaction, host: HostRow) -> Directories:
    """Return what the newest crawl said of each directory. Raises ConflictError: nothing yet."""
    number = directories.newest_round(tx, host.id)
    if number is None:
        raise ConflictError("hosts.directories_unknown", host=host.key)
    sizes: dict[str, DirectorySize] = defaultdict(DirectorySize)
    rows = directories.crawled_in(tx, host.id, number)
    whole = measurements.crawled_of_host(tx, host.id, number)
    # Of a host that became big by its third log, the first two are in no directory: the others
    # stand for them.
    times = max(1.0, whole.requests / max(1, sum(row.requests for row in rows)))
    for row in rows:
        # A path with two slashes in a row, or an endless one, is no directory to give away.
        good = "//" not in row.path and len(row.path) <= LONGEST_PATH
        size = sizes[row.path if good else "/"]
        size.requests += row.requests * times
        size.pages += round(row.pages * times)
        size.size_bytes += round(row.response_bytes * times)
        size.ms += row.ms * times
    _ = sizes["/"]  # of which there is always a unit
    return Directories(number, dict(sizes))


def pause_of(tx: Transaction, host_id: int, top: int, found: Directories, policy: Policy) -> float:
    """Return the milliseconds between two requests to a host: as a person or its robots.txt chose
    it, else as its owner keeps it alone."""
    delays = crawl_delays.delays_of_host(tx, host_id)
    if policy.split_interval_s:
        longest_ms = max((one.delay_ms for one in delays), default=0)
        return max(policy.split_interval_s * 1000, float(longest_ms))  # agents keep it anyway
    owner_id, capacity = _owner_of(tx, top)
    whole = found.whole()
    pause_ms = agreed_ms(delays, owner_id, _idle(capacity).pause_ms(whole))
    answers_ms = _idle(replace(capacity, interval_ms=0.0, fast_interval_ms=0.0)).pause_ms(whole)
    pause_ms = math.ceil(max(pause_ms, answers_ms))
    return float(min(max(1, pause_ms), INTERVAL_MOST_S * 1000))  # an agent rests no longer


def is_by_robots(
    tx: Transaction, host_id: int, top: int, found: Directories, policy: Policy, interval_ms: float
) -> bool:
    """Return whether a pause is shorter than the owner's because the robots.txt allows that."""
    if policy.split_interval_s:
        return False
    alone_ms = _idle(_owner_of(tx, top)[1]).pause_ms(found.whole())
    allowed_ms = pause_of(tx, host_id, top, found, policy)
    return allowed_ms <= math.ceil(interval_ms) < alone_ms


def _owner_of(tx: Transaction, top: int) -> tuple[int, Capacity]:
    number = assignments.owners_of(tx, [top]).get(top, 0)
    owner = agents.by_id(tx, number)
    return number, DEFAULT_CAPACITY if owner is None else capacity_of(owner)


def _idle(capacity: Capacity) -> AgentLoad:
    none = np.empty(0)
    return AgentLoad(
        capacity, math.inf, np.empty(0, dtype=np.intp), AddressLoad(none, none, none, none)
    )


def cut_host(host: HostRow, found: Directories, parts: int, pause_ms: float) -> Cut:
    """Cut a host into at most so many parts of about equal work. Raises ConflictError where one
    directory holds nearly all of it."""
    works = {path: size.requests * pause_ms + size.ms for path, size in found.sizes.items()}
    made = cut(works, parts)
    if max(made.weights) > WORTHLESS * sum(made.weights):
        raise ConflictError("hosts.one_large_directory", host=host.key, round=found.round)
    return made


def pieces_of(
    host: HostRow, made: Cut, found: Directories, taking: list[AgentRow]
) -> tuple[Piece, ...]:
    """Return the parts of a cut with their agents and sizes."""
    where = part_of(made, host, found.sizes)
    pages, bytes_of = [0] * len(made.parts), [0] * len(made.parts)
    for path, size in found.sizes.items():
        pages[where[path]] += size.pages
        bytes_of[where[path]] += size.size_bytes
    total = sum(made.weights) or 1.0
    return tuple(
        Piece(
            taking[part].name,
            tuple(sorted(units)),
            pages[part],
            bytes_of[part],
            made.weights[part] / total,
        )
        for part, units in enumerate(made.parts)
    )


def part_of(made: Cut, host: HostRow, paths: Iterable[str]) -> dict[str, int]:
    """Return which part each directory lies in."""
    prefix = host.key[:-1]
    parts = {prefix + unit: part for part, units in enumerate(made.parts) for unit in units}
    index = UnitIndex(parts)
    found = {}
    for path in paths:
        unit = index.unit_of(prefix + path)
        assert unit is not None, "`/` holds everything"
        found[path] = parts[unit]
    return found
