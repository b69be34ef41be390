"""Plans in which the whole crawl ends soonest, then cost the network least, then move least.

    1. a bound: no plan ends earlier (`end_bound`)
    2. owners that cost the network least among those that end within 1% of the best
    3. of those within 10% of that network cost the one with the fewest moves

In step 2 each agent has room for as much work as its hours have until the end (`network_cost`).
A move must gain more than the error of the predictor: of the end of the crawl, or of the unit's own
network cost; a plan moves at most so many units by choice, unless the end now is far from the best.
Invariant: each atom has one owner that may have it; fixed ones stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from manager.balancing.arrays import NO_OWNER, FloatArray, IntArray
from manager.balancing.bound import lower_bound
from manager.balancing.forecast.crawl_work import TimeCosts
from manager.balancing.low_churn import Churn, settle
from manager.balancing.network_cost import cheapest_within, room_shares, shares_in_time
from manager.balancing.problem import Atoms

__all__ = ["Ended", "MoveRules", "end_bound", "end_soonest", "work_prices"]

END_SHARE: Final = 1.01
"""Ends that count as equal."""
NETWORK_SHARE: Final = 1.10
"""Network costs that count as equal."""
_STRETCHES: Final = (END_SHARE, 1.005, 1.0, 1.02, 1.05, 1.1, 1.25, 1.5)
"""Times the bound, until a plan ends in time by the predictor: within 1% of the bound, or of the
limit where that is wider."""
_WIDE: Final = 10_000_000
"""Cells above which limits tighter than 1% are not tried: atoms are many, and fill rooms well."""
_NEARLY: Final = 1.005
"""Ends that count as equal where none is within 1% of the bound."""
_CLOSE: Final = 1e-3
_BISECTIONS: Final = 8
_FAR_MS: Final = 36_500 * 86_400_000.0
_FEW: Final = 1e-9


@dataclass(frozen=True)
class MoveRules:
    """most: share of the placed units that may move by choice. error: of the predictor, as a share.
    great: end now over the best from which the limit does not hold."""

    most: float = 0.1
    error: float = 0.15
    great: float = 1.1


@dataclass(frozen=True)
class Ended:
    """owner: (atoms,). end_ms: predicted. moved: units that had an owner. great: of many moves."""

    owner: IntArray
    end_ms: float
    moved: int
    great: bool


Predict = Callable[[IntArray], float]
"""The end of the crawl, by the clock, where atoms have these owners."""


def end_bound(times: TimeCosts) -> float:
    """Return an end before which no plan ends.

    Some atom takes so long wherever it is; and the work that all of it takes at least must fit
    into the agents' hours: where prices show that it does not, the end is later.
    """
    if not times.alone_ms.shape[1]:
        return 0.0
    low = end = times.longest_ms()
    over = _overload(times, end)
    while over > 1 + _CLOSE and end < _FAR_MS:
        low, end = end, end * over
        over = _overload(times, end)
    always = all(one.is_always for one in times.hours)
    for _ in range(_BISECTIONS):
        if always:
            # With fewer pairs, as before an earlier end, the load is no less.
            low = max(low, min(end, end * over))
        if end <= low * (1 + _CLOSE):
            break
        middle = (low + end) / 2
        over_there = _overload(times, middle)
        if over_there > 1:
            low = middle
        else:
            end, over = middle, over_there
    return low


def work_prices(times: TimeCosts) -> FloatArray:
    """Return (agents,) the price of a ms of each agent's transfer, by what it does to the end.

    1 for all where their hours suffice: the longest atom decides then when the crawl ends.
    """
    agents = len(times.load_ms)
    room = np.maximum(times.room_ms(times.longest_ms()), _FEW)
    if not times.load_ms.shape[1] or not np.isfinite(times.load_ms).any(axis=0).all():
        return np.ones(agents)
    bound = lower_bound(times.load_ms / room[:, None])
    if bound.makespan_ms <= 1:
        return np.ones(agents)
    prices = bound.prices / (room * times.connections)
    return np.asarray(prices / prices.mean())


def _overload(times: TimeCosts, end_ms: float) -> float:
    """Return a bound of the greatest load over the room until an end."""
    room = times.room_ms(end_ms)
    share = shares_in_time(times, room, None)
    none = ~np.isfinite(share).any(axis=0)
    if none.any():
        return 2.0
    return lower_bound(share).makespan_ms


def end_soonest(
    atoms: Atoms, times: TimeCosts, bound_ms: float, predict: Predict, rules: MoveRules
) -> Ended:
    """Return owners by the three steps. bound_ms: of `end_bound`."""
    best, end, limit, least = _best(atoms, times, bound_ms, predict)
    held = atoms.start != NO_OWNER
    if not np.any(held & ~atoms.fixed):
        return Ended(best, end, 0, False)
    stays = np.where(held, atoms.start, best)
    now = predict(stays)
    if now <= (1 + rules.error) * end:
        # No move gains more of the end than the predictor may be wrong by.
        limit = max(limit, now)
        (best, least), end = cheapest_within(atoms, times, limit), now
    spare = max(0.0, NETWORK_SHARE * least - _network(times, best))
    few = _fewest_moves(atoms, times, best, limit, spare, rules, great=False)
    found = [(predict(few), few), (now, stays)]
    if found[0][0] > rules.great * end:
        eased = _few_that_ease(atoms, times, limit, rules)
        found.append((predict(eased), eased))
    reached, owner = min(found, key=lambda one: one[0])
    if found[0][0] <= END_SHARE * reached:
        reached, owner = found[0]
    great = reached > rules.great * end
    if great:
        # Few moves cannot do it. In a great change they are cheap beside what they save.
        owner = _fewest_moves(atoms, times, best, limit, spare, rules, great=True)
        reached = predict(owner)
    changed = held & (owner != atoms.start)
    return Ended(owner, reached, int(atoms.sizes[changed].sum()), great)


def _few_that_ease(atoms: Atoms, times: TimeCosts, end_ms: float, rules: MoveRules) -> IntArray:
    """Return owners that end early after few moves (see `low_churn`), whatever they cost."""
    room = np.maximum(times.room_ms(end_ms), _FEW)[:, None]
    share = times.load_ms / room
    alone = times.alone_ms / room
    costs = np.where(alone > 1, np.maximum(share, alone), share)
    even = replace(atoms, costs=costs)
    churn = Churn(most_moves=rules.most, great_change=np.inf)
    return settle(even, lower_bound(costs), churn).owner


def _best(
    atoms: Atoms, times: TimeCosts, bound_ms: float, predict: Predict
) -> tuple[IntArray, float, float, float]:
    """Return owners, their end, the end that limited them, and the least network cost with it.

    The cheapest of those that end within 1% of the best.
    """
    found: list[tuple[float, float, IntArray, float, float]] = []
    for stretch in _STRETCHES:
        if stretch < END_SHARE and times.load_ms.size > _WIDE:
            continue
        limit = stretch * bound_ms
        owner, least = cheapest_within(atoms, times, limit)
        end = predict(owner)
        found.append((end, _network(times, owner), owner, limit, least))
        if end <= max(stretch, END_SHARE) * bound_ms * (1 + 1e-6):
            break
    earliest = min(end for end, *_ in found)
    late = max(END_SHARE * bound_ms, _NEARLY * earliest)
    equal = [one for one in found if one[0] <= late]
    end, _, owner, limit, least = min(equal, key=lambda one: one[1])
    return owner, end, max(limit, end), least


def _network(times: TimeCosts, owner: IntArray) -> float:
    return float(times.network_ms[owner, np.arange(len(owner))].sum(dtype=np.float64))


def _fewest_moves(
    atoms: Atoms,
    times: TimeCosts,
    best: IntArray,
    end_ms: float,
    spare: float,
    rules: MoveRules,
    *,
    great: bool,
) -> IntArray:
    """Return `best` with as many atoms as possible left where they are.

    Those go back first that gain least for a unit. Each must still end in time there. spare: by
    how much the network cost may grow.
    """
    room = times.room_ms(end_ms)
    share = room_shares(times, room, atoms.fixed)
    moved = np.flatnonzero((best != atoms.start) & (atoms.start != NO_OWNER))
    home = atoms.start[moved]
    own = times.network_ms[home, moved].astype(np.float64)
    gain = own - times.network_ms[best[moved], moved]
    fits = np.isfinite(share[home, moved])
    worth = fits & (gain <= rules.error * own)
    owner = best.copy()
    load = np.bincount(best, weights=_own(share, best), minlength=atoms.agents)
    most = int(rules.most * atoms.sizes[atoms.start != NO_OWNER].sum())
    moving = int(atoms.sizes[moved].sum())
    # First what must not move, as it gains too little; then what need not.
    for at in np.lexsort((gain / np.maximum(atoms.sizes[moved], 1), ~worth, ~fits)):
        atom, agent = moved[at], home[at]
        forced = not great and moving > most
        if not forced and not worth[at] and gain[at] > spare:
            continue
        cost = share[agent, atom]
        if not forced and load[agent] + cost > max(1.0, load.max(initial=0.0)) + _FEW:
            continue
        if np.isfinite(cost):
            load[owner[atom]] -= share[owner[atom], atom]
            load[agent] += cost
        owner[atom] = agent
        moving -= int(atoms.sizes[atom])
        spare -= max(0.0, float(gain[at]))
    return owner


def _own(share: FloatArray, owner: IntArray) -> FloatArray:
    """Return (atoms,) the share of each at its owner; 0 where it does not end in time."""
    own = share[owner, np.arange(len(owner))].astype(np.float64)
    return np.where(np.isfinite(own), own, 0.0)
