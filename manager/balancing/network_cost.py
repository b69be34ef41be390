"""Owners that cost the network little and have room for their work until an end.

A pair is left out where the atom alone would end later. Where the nearest agents have no room for
all, room has a price (`room_prices`), and rooms are filled by it (`room_fill`). Where that leaves
an agent without room for all that it has, the busiest are eased; what room is left then serves
atoms that have a nearer agent.
Invariant: each atom has one owner that may have it; fixed ones stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from manager.balancing.arrays import BoolArray, FloatArray, IntArray, Matrix
from manager.balancing.forecast.crawl_work import TimeCosts
from manager.balancing.load_transfer import ease_busiest
from manager.balancing.problem import Atoms
from manager.balancing.room_fill import fill_rooms

__all__ = ["cheapest_within", "move_nearer", "room_shares", "shares_in_time"]

_EASING_MOVES: Final = 2_000
_LATE: Final = 1.02
"""Times the earliest end of an atom that no agent ends in time: which agents may have it."""
_FEW: Final = 1e-9


def cheapest_within(atoms: Atoms, times: TimeCosts, end_ms: float) -> tuple[IntArray, float]:
    """Return owners that cost the network little and have room until an end, where there is any;
    and a network cost that no such owners are below."""
    room = times.room_ms(end_ms)
    share = room_shares(times, room, atoms.fixed)
    stuck = ~np.isfinite(share).any(axis=0)
    if stuck.any():
        # No agent ends it in time: wherever it is, the end is later.
        share[:, stuck] = times.load_ms[:, stuck] / np.maximum(room, _FEW)[:, None]
    network = np.where(np.isfinite(share), times.network_ms, np.inf)
    if stuck.any():
        late = times.alone_ms[:, stuck]
        network[:, stuck] = np.where(late <= late.min(axis=0) * _LATE, network[:, stuck], np.inf)
    nearest = network.argmin(axis=0)
    if _fullest(share, nearest) <= 1:
        return nearest, float(network.min(axis=0).sum(dtype=np.float64))
    filled = fill_rooms(network, share)
    owner = filled.owner
    if _fullest(share, owner) > 1:
        even = replace(atoms, costs=np.where(np.isfinite(network), share, np.inf))
        owner = ease_busiest(even, owner, enough_ms=1.0, most_moves=_EASING_MOVES)
    return move_nearer(network, share, owner), filled.least


def _fullest(share: Matrix, owner: IntArray) -> float:
    """Return the greatest load of an agent over its room."""
    return float(np.bincount(owner, weights=share[owner, np.arange(len(owner))]).max(initial=0.0))


def move_nearer(network: Matrix, share: Matrix, owner: IntArray) -> IntArray:
    """Move atoms to nearer agents where these still have room, the greatest gain first."""
    agents = len(network)
    everyone = np.arange(len(owner))
    load = np.bincount(owner, weights=share[owner, everyone], minlength=agents)
    gain = network[owner, everyone] - network.min(axis=0)
    nearer = owner.copy()
    for atom in np.argsort(-gain, kind="stable")[: int(np.count_nonzero(gain > 0))]:
        ends = load + share[:, atom]
        costs = np.where(ends <= 1, network[:, atom], np.inf)
        agent = int(costs.argmin())
        if costs[agent] < network[nearer[atom], atom]:
            load[nearer[atom]] -= share[nearer[atom], atom]
            load[agent] = ends[agent]
            nearer[atom] = agent
    return nearer


def room_shares(times: TimeCosts, room: FloatArray, fixed: BoolArray) -> FloatArray:
    """Return the same, no less than the share of the agent's disk."""
    share = shares_in_time(times, room, fixed)
    for agent in np.flatnonzero(np.isfinite(times.disk_kb)):
        disk = times.volume_kb / max(float(times.disk_kb[agent]), _FEW)
        share[agent] = np.maximum(share[agent], disk)
    return share


def shares_in_time(times: TimeCosts, room: FloatArray, fixed: BoolArray | None) -> FloatArray:
    """Return (agents, atoms) of the room; inf where the atom would end too late by itself."""
    late = times.alone_ms > room[:, None] * (1 + 1e-9)
    if fixed is not None:
        late &= ~fixed
    share = times.load_ms / np.maximum(room, _FEW).astype(times.load_ms.dtype)[:, None]
    share[late] = np.inf
    return share
