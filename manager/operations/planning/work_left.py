"""Work that agents have left, by the predictor that plans go by.

What is known of a unit's size is taken as plans take it: the last crawl, else the probe, else the
median. A unit that has more pages than known has one request left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray
from manager.balancing.forecast.agent_load import AgentLoad
from manager.balancing.forecast.predictor import address_loads, crawl_ms, fast_threshold
from manager.balancing.forecast.work_duration import Capacity
from manager.db.rounds.round_work import WorkTuple
from manager.db.transaction import chunks
from shared.frozen import frozen

__all__ = [
    "SizedUnits",
    "WorkLeft",
    "agent_loads",
    "probe_ms",
    "size_units",
    "units_left",
    "work_of_loads",
]

UNITS_AT_ONCE: Final = 5_000

STEPS_MOST: Final = 50
"""Moments of an agent's crawl at which it is known how many units are finished."""

NO_SPEED: Final = 1.0
"""Milliseconds for each KByte where nothing was ever measured."""


@frozen
class WorkLeft:
    """Units that an agent has left, and how long they take while its hours are open.

    steps: (work, units that are finished by then), `STEPS_MOST` at most, the last with all units.
    taken_by: agents that take the units of a late or lost agent; work and steps are theirs then.
    """

    units: int
    work_ms: float
    steps: tuple[tuple[float, int], ...] = ()
    taken_by: tuple[int, ...] = ()


def units_left(rows: Iterable[WorkTuple]) -> FloatArray:
    """Return (fields of a row, units): what is known of some units, 80 bytes each; NaN: unknown."""
    parts = [np.array(part, dtype=np.float64).T for part in chunks(rows, UNITS_AT_ONCE)]
    return np.concatenate(parts, axis=1) if parts else np.empty((0, 0))


@frozen
class SizedUnits:
    """Units with what their crawl takes, each (units,).

    group: the address. shared_ms: the interval of a split host, 0: it is whole. own_rest_ms: so
    long its host rests at each owner, by its Crawl-delay too. transfer_ms: at the owner.
    """

    agent: IntArray
    group: IntArray
    requests: FloatArray
    volume_kb: FloatArray
    shared_ms: FloatArray
    own_rest_ms: FloatArray
    transfer_ms: FloatArray


def size_units(units: FloatArray) -> SizedUnits:
    """Return what is left of some units (`units_left`), with estimates for what is unknown."""
    if not units.size:
        none, whole = np.empty(0), np.empty(0, dtype=np.intp)
        return SizedUnits(whole, whole, none, none, none, none, none)
    agent, group = units[0].astype(np.intp), units[1].astype(np.intp)
    _, _, pages, crawled_kb, shared_ms, delay_ms, speed, probed_bytes, probed_urls, requests = units
    volume_kb = _volumes(crawled_kb, probed_bytes / 1000)
    urls = _urls(pages, probed_urls, volume_kb)
    left = np.maximum(urls - requests, 1.0)
    volume_kb = volume_kb * left / urls
    shared_ms, delay_ms = np.nan_to_num(shared_ms), np.nan_to_num(delay_ms)
    transfer_ms = np.empty(len(volume_kb))
    for number in np.unique(agent).tolist():
        mine = np.flatnonzero(agent == number)
        transfer_ms[mine] = _known_speeds(speed[mine], speed) * volume_kb[mine]
    own_rest_ms = _own_rests(shared_ms, delay_ms, group, agent)
    return SizedUnits(agent, group, left, volume_kb, shared_ms, own_rest_ms, transfer_ms)


def agent_loads(sized: SizedUnits, capacities: Mapping[int, Capacity]) -> dict[int, AgentLoad]:
    """Return the load of each owner of some units. capacities: of agents; of others the usual."""
    found = {}
    for number in np.unique(sized.agent).tolist():
        mine = np.flatnonzero(sized.agent == number)
        capacity = capacities.get(number, Capacity())
        groups, address = np.unique(sized.group[mine], return_inverse=True)
        transfer_ms, volume_kb = sized.transfer_ms[mine], sized.volume_kb[mine]
        fast = fast_threshold(transfer_ms, volume_kb, capacity)
        load = address_loads(
            transfer_ms,
            sized.requests[mine],
            volume_kb,
            sized.own_rest_ms[mine],
            address.astype(np.intp),
            len(groups),
            capacity,
            fast,
        )
        found[number] = AgentLoad(capacity, fast, groups, load)
    return found


def work_of_loads(sized: SizedUnits, loads: Mapping[int, AgentLoad]) -> dict[int, WorkLeft]:
    """Return what each agent has left of some units. loads: of `agent_loads`, or changed ones."""
    return {
        agent: _work_of(load, sized.group[sized.agent == agent]) for agent, load in loads.items()
    }


def _work_of(load: AgentLoad, group: IntArray) -> WorkLeft:
    """Return the work of an agent with some units, each with its group."""
    ends = load.ends_ms()
    order = np.argsort(ends, kind="stable")
    at_address = np.bincount(np.searchsorted(load.address, group), minlength=len(ends))
    finished = np.cumsum(at_address[order])
    shown = np.unique(np.linspace(0, len(ends) - 1, STEPS_MOST).astype(np.intp))
    steps = zip(ends[order][shown].tolist(), finished[shown].tolist(), strict=True)
    return WorkLeft(len(group), load.work_ms, tuple(steps))


def probe_ms(capacity: Capacity, pages: int) -> float:
    """Return how long an agent takes to probe a host of at least so many pages."""
    none, one = np.zeros(1), np.ones(1)
    address = np.zeros(1, dtype=np.intp)
    load = address_loads(none, one * pages, one, none, address, 1, capacity, np.inf)
    return crawl_ms(load, capacity)


def _volumes(crawled_kb: FloatArray, probed_kb: FloatArray) -> FloatArray:
    """Return (units,) KBytes: of the crawl, else at least those of the probe and the median."""
    known = crawled_kb[~np.isnan(crawled_kb)]
    usual = float(np.median(known)) if len(known) else 1.0
    probed = np.nan_to_num(probed_kb)
    guessed = np.maximum(probed, usual) if len(known) else np.where(probed > 0, probed, usual)
    return np.maximum(np.where(np.isnan(crawled_kb), guessed, crawled_kb), 1e-3)


def _urls(pages: FloatArray, probed: FloatArray, volume_kb: FloatArray) -> FloatArray:
    """Return (units,) requests, with one for robots.txt; by the volume where none were counted."""
    counted = np.flatnonzero(pages > 0)
    total_kb = float(volume_kb[counted].sum())
    per_kb = float(pages[counted].sum()) / total_kb if total_kb else 0.0
    guessed = np.maximum(np.nan_to_num(probed), np.ceil(volume_kb * per_kb))
    urls: FloatArray = np.where(pages > 0, pages, guessed) + 1
    return urls


def _known_speeds(mine: FloatArray, all_speeds: FloatArray) -> FloatArray:
    """Return (units,) ms for each KByte; what is unknown is the median of the agent, or of all."""
    for some in (mine, all_speeds):
        known = some[~np.isnan(some)]
        if len(known):
            return np.where(np.isnan(mine), np.median(known), mine)
    return np.full(len(mine), NO_SPEED)


def _own_rests(
    shared_ms: FloatArray, delay_ms: FloatArray, group: IntArray, agent: IntArray
) -> FloatArray:
    """Return (units,) the rest of a host itself at each agent that owns a part of it."""
    rest = delay_ms.copy()
    split = np.flatnonzero(shared_ms > 0)
    if len(split):
        pairs = np.unique(np.stack((group[split], agent[split])), axis=1)
        hosts, owners = np.unique(pairs[0], return_counts=True)
        pause_ms = np.maximum(shared_ms[split], delay_ms[split])
        rest[split] = pause_ms * owners[np.searchsorted(hosts, group[split])]
    return rest
