"""A lower bound of the best possible makespan, and the prices that prove it.

Sell each agent's time at a price: whatever the assignment, the agents' costs weighted by prices
come to at least sum_j min_i(price_i c_ij), and a weighted mean never exceeds the maximum. So that
sum over sum_i price_i bounds the makespan from below for any prices; raising the price of who is
overloaded and lowering that of who is idle finds good ones. It is the dual of the relaxation in
which an atom may be cut in pieces.

Two things sharpen it where one atom is large. No agent ends before the longest atom does where it
is shortest. And a makespan under T uses no pair that costs more than T: with those pairs left out
the sum gives a value v, and min(v, T) is a bound (either the best makespan exceeds T, or it is one
of those that v bounds). T is kept a little above the best bound found so far.
Turning prices into an assignment is left to `prices`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray, Matrix

__all__ = ["Bound", "lower_bound", "priced_choice"]

_CELLS_AT_ONCE: Final = 1 << 18
_SMALLEST_FACTOR: Final = 0.05
"""Lowest counted load / mean: an agent that no atom chooses gets cheaper, not free."""
_LOWEST_PRICE: Final = 1e-9
"""An agent that may have nothing would come to a price of 0, and 0 x inf is no number."""
_ITERATIONS: Final = 250
_SETTLED_AFTER: Final = 40
_SETTLED: Final = 2e-4
_WIDE: Final = 10_000_000
"""Cells above which an iteration takes longer than 20 ms."""
_CALM, _CALM_ITERATIONS = 20, 80
"""With 200 agents a small change of price moves much load: eta begins as in the 20th iteration."""


@dataclass(frozen=True)
class Bound:
    """No assignment has a makespan below `makespan_ms`.

    prices: (agents,), mean about 1, that prove it. iterations: how many prices were tried.
    """

    makespan_ms: float
    prices: FloatArray
    iterations: int


def lower_bound(costs: Matrix) -> Bound:
    """Return the best bound that multiplicative price updates find.

    costs: (agents, atoms) ms, inf where forbidden, a finite entry in each column. The update is
    price_i *= (load_i / mean load)^eta with eta = 0.5 / (1 + t/20)^0.7. Stops before the last
    iteration once 40 of them have together raised the bound by less than a fraction.

    Looked for twice: over all pairs, and with T, which finds more where one atom is large and may
    go astray where many are. Where the matrix is wide, over all pairs only.
    """
    agents, atoms = costs.shape
    even = np.ones(agents)
    if not atoms:
        return Bound(0.0, even, 0)
    longest = float(costs.min(axis=0).max())
    found = _search(costs, None, Bound(0.0, even, _CALM), _CALM + _CALM_ITERATIONS)
    if costs.size <= _WIDE:
        sharp = _search(costs, longest, Bound(0.0, even, 0), _ITERATIONS)
        found = max((sharp, found), key=lambda bound: bound.makespan_ms)
    return replace(found, makespan_ms=max(found.makespan_ms, longest))


def _search(costs: Matrix, longest: float | None, start: Bound, until: int) -> Bound:
    """Return the best of `start` and what follows from its prices, up to iteration `until`.

    longest: of the atoms, each where it is shortest, to leave out pairs above T; None: keep all.
    """
    agents = len(start.prices)
    prices = best_prices = start.prices
    best, done, checkpoint = start.makespan_ms, start.iterations, 0.0
    large = np.flatnonzero(costs.max(axis=0) > longest) if longest is not None else None
    large_costs = costs[:, large] if large is not None else None
    while done < until:
        choice, cheapest = priced_choice(costs, prices)
        limit = np.inf
        if longest is not None and large_costs is not None:
            if done:
                # Wide at first, for the bound cannot outgrow T; close in the end: then it is sharp.
                limit = max(best, longest) * (1 + 1 / (1 + done / 3))
            choice[large], cheapest[large] = priced_choice(
                np.where(large_costs <= limit, large_costs, np.inf), prices
            )
        value = min(float(cheapest.sum() / prices.sum()), limit)
        done += 1
        if value > best:
            best, best_prices = value, prices
        if done % _SETTLED_AFTER == 0:
            if best <= checkpoint * (1 + _SETTLED):
                break
            checkpoint = best
        loads = np.bincount(choice, weights=cheapest / prices[choice], minlength=agents)
        mean = loads.mean()
        if mean <= 0:
            break
        eta = 0.5 / (1 + done / 20) ** 0.7
        prices = prices * np.maximum(loads / mean, _SMALLEST_FACTOR) ** eta
        prices = np.maximum(prices / prices.mean(), _LOWEST_PRICE)
    return Bound(best, best_prices, done)


def priced_choice(costs: Matrix, prices: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return (atoms,) the agent with the smallest price x cost, and that smallest product.

    Of equals the first agent. Works through blocks that stay in the processor's cache.
    """
    agents, atoms = costs.shape
    choice = np.zeros(atoms, dtype=np.intp)
    cheapest = np.empty(atoms, dtype=np.float64)
    width = max(1, _CELLS_AT_ONCE // agents)
    for start in range(0, atoms, width):
        part = slice(start, start + width)
        priced = costs[:, part] * prices[:, None].astype(costs.dtype)
        block = priced.argmin(axis=0)
        choice[part] = block
        cheapest[part] = priced[block, np.arange(len(block))]
    return choice, cheapest
