"""Placement of atoms without an owner; all other atoms stay.

New hosts arrive each round, and agents leave; every method that keeps placed atoms begins here
(`place`), and so does what happens between two plans (`place_in_time`).
Invariant: afterwards each atom has exactly one owner that may have it, and placed atoms stay.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from manager.balancing.arrays import NO_OWNER, BoolArray, FloatArray, IntArray
from manager.balancing.cost import agent_costs
from manager.balancing.forecast.crawl_work import TimeCosts
from manager.balancing.problem import Atoms

__all__ = ["place", "place_in_time"]

_NEAR: Final = 1.10
"""Network costs that count as equal."""
_LEAST_MS: Final = 1e-6


def place(atoms: Atoms, *, ceiling_ms: float = 0.0, loads: FloatArray | None = None) -> IntArray:
    """Return (atoms,) owners: `atoms.start`, with an owner for each atom that had none.

    loads: (agents,) ms, the cost of other units that each agent owns; None: no agent owns any.

    The dearest first. Each goes to the agent for which it is cheapest among those that it does
    not push over the ceiling, the greater of the present makespan and `ceiling_ms`; if it
    pushes all over, to the agent that ends lowest.
    """
    owner = atoms.start.copy()
    waiting = np.flatnonzero(owner == NO_OWNER)
    if not len(waiting):
        return owner
    loads = agent_costs(atoms.costs, owner) + (0.0 if loads is None else loads)
    ceiling = max(float(loads.max()), ceiling_ms)
    columns = np.ascontiguousarray(atoms.costs[:, waiting].T)
    for place_in_line in np.argsort(-columns.min(axis=1), kind="stable"):
        column = columns[place_in_line]
        ends = loads + column
        fits = ends <= ceiling
        agent = int(np.where(fits, column, np.inf).argmin() if fits.any() else ends.argmin())
        owner[waiting[place_in_line]] = agent
        loads[agent] = ends[agent]
        ceiling = max(ceiling, float(ends[agent]))
    return owner


def place_in_time(times: TimeCosts, busy_ms: FloatArray, end_ms: float) -> IntArray:
    """Return (atoms,) owners for atoms that come to agents with work.

    The longest first. Each goes where it costs the network least among the agents that end it by
    the end of the crawl and have disk for it, of those within 10% of that to the one with most time
    left; where no agent does, to the one that ends it soonest, and the crawl ends then.
    busy_ms: (agents,) work that they have, of the kind of `times.load_ms`. end_ms: of the crawl,
    from now.
    """
    busy, free_kb = busy_ms.astype(np.float64), times.disk_kb.copy()
    alone_ends = np.full(times.alone_ms.shape, np.inf)
    for agent, hours in enumerate(times.hours):
        known = np.isfinite(times.alone_ms[agent])
        alone_ends[agent, known] = hours.end_of(times.alone_ms[agent, known].astype(np.float64))
    owner = np.full(times.alone_ms.shape[1], NO_OWNER, dtype=np.intp)
    rooms = times.room_ms(end_ms)
    for atom in np.argsort(-alone_ends.min(axis=0), kind="stable").tolist():
        load = busy + times.load_ms[:, atom]
        fits = (alone_ends[:, atom] <= end_ms) & (load <= rooms)
        fits &= times.volume_kb[atom] <= free_kb
        if fits.any():
            agent = _least_busy(load / np.maximum(rooms, _LEAST_MS), times, atom, fits)
        else:
            ends = np.maximum(alone_ends[:, atom], _ends_of(times, load))
            soonest = float(ends.min())
            agent = _least_busy(load, times, atom, ends == soonest)
            if end_ms < soonest < np.inf:
                end_ms = soonest
                rooms = times.room_ms(end_ms)
        owner[atom] = agent
        busy[agent] = load[agent]
        free_kb[agent] -= times.volume_kb[atom]
    return owner


def _least_busy(share: FloatArray, times: TimeCosts, atom: int, some: BoolArray) -> int:
    """Return the least busy of those of some agents that cost the network about the least."""
    network = np.where(some, times.network_ms[:, atom], np.inf)
    near = network <= _NEAR * network.min()
    return int(np.where(near, share, np.inf).argmin())


def _ends_of(times: TimeCosts, work_ms: FloatArray) -> FloatArray:
    """Return (agents,) when each has done so much work; inf where it may not have it, or never."""
    ends = [
        float(hours.end_of(np.array([work]))[0]) if np.isfinite(work) else np.inf
        for hours, work in zip(times.hours, work_ms.tolist(), strict=True)
    ]
    return np.array(ends)
