"""Owners that cost the network little and have room for their work until an end.

A pair is left out where the atom alone would end later. Where the nearest agents have no room for
all, their time has a price; what the price does not settle is filled in by regret (see `prices`).
Invariant: each atom has one owner that may have it; fixed ones stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from manager.balancing.arrays import BoolArray, FloatArray, IntArray
from manager.balancing.bound import lower_bound, priced_choice
from manager.balancing.forecast.crawl_work import TimeCosts
from manager.balancing.load_transfer import ease_busiest
from manager.balancing.prices import assign_by_prices
from manager.balancing.problem import Atoms

__all__ = ["cheapest_within", "room_shares", "shares_in_time"]

_STEPS: Final = 60
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
    everyone = np.arange(atoms.count)
    prices = best_prices = np.ones(atoms.agents)
    least = 0.0
    for step in range(_STEPS):
        choice, cheapest = priced_choice(network, prices)
        # What room costs at these prices is no cost of the network.
        bound = float(cheapest.sum() - ((prices - 1) * times.connections * room).sum())
        if bound > least:
            least, best_prices = bound, prices
        load = np.bincount(choice, weights=share[choice, everyone], minlength=atoms.agents)
        if load.max(initial=0.0) <= 1:
            return choice, least
        eta = 0.5 / (1 + step / 20) ** 0.7
        prices = np.maximum(1.0, prices * np.clip(load, 0.05, 20.0) ** eta)
    owner = _filled(network * best_prices[:, None], share)
    even = replace(atoms, costs=np.where(np.isfinite(network), share, np.inf))
    owner = ease_busiest(even, owner, enough_ms=1.0, most_moves=_EASING_MOVES)
    if _fullest(share, owner) > 1:
        other = assign_by_prices(even, lower_bound(even.costs)).owner
        owner = min((owner, other), key=lambda one: _fullest(share, one))
    return _nearer(network, share, owner), least


def _fullest(share: FloatArray, owner: IntArray) -> float:
    """Return the greatest load of an agent over its room."""
    return float(np.bincount(owner, weights=share[owner, np.arange(len(owner))]).max(initial=0.0))


def _filled(priced: FloatArray, share: FloatArray) -> IntArray:
    """Give each atom, the greatest regret first, to its cheapest agent that has room."""
    agents, atoms = priced.shape
    lowest = np.sort(priced, axis=0)[:2]
    with np.errstate(invalid="ignore"):
        regret = lowest[-1] - lowest[0] if agents > 1 else np.zeros(atoms)
    owner = np.empty(atoms, dtype=np.intp)
    load = np.zeros(agents)
    for atom in np.argsort(-np.nan_to_num(regret, posinf=np.finfo(np.float64).max), kind="stable"):
        ends = load + np.where(np.isfinite(priced[:, atom]), share[:, atom], np.inf)
        fits = ends <= 1
        agent = int(
            np.where(fits, priced[:, atom], np.inf).argmin() if fits.any() else ends.argmin()
        )
        owner[atom] = agent
        load[agent] = ends[agent]
    return owner


def _nearer(network: FloatArray, share: FloatArray, owner: IntArray) -> IntArray:
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
    share = times.load_ms / np.maximum(room, _FEW)[:, None]
    return np.where(late, np.inf, share)
