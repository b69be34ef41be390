"""Prices of the agents' room at which all work costs the network least.

For any prices >= 0

    sum_j min_i (network_ij + price_i x share_ij) - sum_i price_i x room_i

is a network cost that no owners with room for their work are below: the dual of the relaxation in
which an atom may be divided. The best prices are found by Newton's method on a smooth form of it,
where a soft minimum stands for the minimum; it becomes sharper stage by stage, until it is within a
fraction of the minimum. Where agents and atoms are many, a sample of the atoms gives the first
prices, and each atom keeps the few pairs that are cheapest by them.
Invariant: deterministic; prices are finite and >= 0, also where the agents have no room for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray, Matrix

__all__ = [
    "Pairs",
    "first_prices",
    "least_network",
    "next_prices",
    "pairs_of",
    "priced_network",
    "sharp_prices",
]

_SHARP: Final = (0.01, 0.003)
"""Stages where prices are nearly known; of a soft minimum's width over the cost of the atom."""
_STAGES: Final = (0.3, 0.1, 0.03, *_SHARP)
_STEPS: Final = 12
"""Newton's steps in a stage."""
_HALVINGS: Final = 12
_DESCENT: Final = 1e-4
"""Least part of the descent that the gradient promises."""
_CLOSE: Final = 1e-3
"""Of an agent's room: a load so far from it is near enough."""
_CELLS: Final = 1_000_000
"""Pairs up to which all are looked at in each step."""
_ALONE: Final = 262_144
"""Products that OpenBLAS makes in one thread: more threads wait for each other where the machine
is busy, and then take ten times as long."""
_KEPT: Final = 8
"""The cheapest pairs of an atom that are kept where there are more cells."""
_CURVED: Final = 4
"""Of these, those whose common change is counted: a step needs the direction, not each digit."""
_CELLS_AT_ONCE: Final = 1 << 20
_FEW: Final = 1e-12


@dataclass(frozen=True)
class Pairs:
    """Pairs of some atoms, as many of each, (pairs, atoms).

    agent: of each pair, the cheapest first; None: all agents, each in its row. network: inf where
    barred. share: of the agent's room, 0 where barred. weight: (atoms,) how many each stands for.
    """

    agents: int
    agent: IntArray | None
    network: FloatArray
    share: FloatArray
    weight: FloatArray

    def take(self, atoms: IntArray) -> Pairs:
        """Return the pairs of some of the atoms."""
        agent = None if self.agent is None else self.agent[:, atoms]
        network, share = self.network[:, atoms], self.share[:, atoms]
        return Pairs(self.agents, agent, network, share, self.weight[atoms])

    def by_pair(self, values: FloatArray) -> FloatArray:
        """Return what each pair's agent has of (agents,) values."""
        return values[:, None] if self.agent is None else values[self.agent]

    def by_agent(self, values: FloatArray) -> FloatArray:
        """Return (agents,) sums of (pairs, atoms) values."""
        if self.agent is None:
            return np.asarray(values.sum(axis=1))
        return np.bincount(self.agent.ravel(), values.ravel(), self.agents).astype(np.float64)

    def products(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return (agents, agents) sums over atoms of left x right; both are (pairs, atoms).

        Of kept pairs those of the cheapest few: what is left out makes steps shorter.
        """
        cells = self.agents * self.agents
        if self.agent is None:
            whole = np.zeros((self.agents, self.agents))
            width = max(1, _ALONE // cells)
            for start in range(0, left.shape[1], width):
                part = slice(start, start + width)
                whole += left[:, part] @ right[:, part].T
            return whole
        found = np.zeros(cells)
        for row, one in zip(self.agent[:_CURVED], left, strict=False):
            for column, other in zip(self.agent[:_CURVED], right, strict=False):
                found += np.bincount(row * self.agents + column, one * other, cells)
        return found.reshape(self.agents, self.agents)


def first_prices(network: Matrix, share: Matrix, room: FloatArray) -> FloatArray:
    """Return (agents,) prices of the rooms, by all atoms where they are few, else by a sample.

    network: (agents, atoms) inf where a pair is barred, one finite entry in each column. share:
    (agents, atoms) of a room of 1, read where the pair is not barred. room: (agents,) what is free
    of it.
    """
    agents = len(network)
    size = np.where(np.isfinite(network), share, np.inf).min(axis=0, initial=np.inf)
    columns, weight = _sample(size, max(2, _CELLS // agents))
    sampled = _dense(network[:, columns], share[:, columns], weight)
    return _best(sampled, room, np.zeros(agents), _STAGES)


def pairs_of(network: Matrix, share: Matrix, prices: FloatArray) -> Pairs:
    """Return the pairs to find sharper prices by: all, or the cheapest few of each atom."""
    agents, atoms = network.shape
    if network.size <= _CELLS or agents <= _KEPT:
        return _dense(network, share, np.ones(atoms))
    kept = np.empty((_KEPT, atoms), dtype=np.intp)
    width = max(1, _CELLS_AT_ONCE // agents)
    for start in range(0, atoms, width):
        part = slice(start, start + width)
        priced = priced_network(network[:, part], share[:, part], prices)
        some = np.argpartition(priced, _KEPT - 1, axis=0)[:_KEPT]
        order = np.argsort(np.take_along_axis(priced, some, axis=0), axis=0, kind="stable")
        kept[:, part] = np.take_along_axis(some, order, axis=0)
    column = np.arange(atoms)
    costs = network[kept, column].astype(np.float64)
    shares = np.where(np.isfinite(costs), share[kept, column], 0.0)
    return Pairs(agents, kept, costs, shares, np.ones(atoms))


def sharp_prices(pairs: Pairs, room: FloatArray, prices: FloatArray) -> FloatArray:
    """Return the best prices of the rooms, from prices that are nearly right."""
    return _best(pairs, room, prices, _SHARP)


def next_prices(pairs: Pairs, room: FloatArray, prices: FloatArray) -> FloatArray:
    """Return the best prices for what is left of the rooms, from those that were best before."""
    return _best(pairs, room, prices, _SHARP[-1:])


def least_network(network: Matrix, share: Matrix, room: FloatArray, prices: FloatArray) -> float:
    """Return a network cost that no owners with room for their work are below; at least 0."""
    total = -float(prices @ room)
    width = max(1, _CELLS_AT_ONCE // len(network))
    for start in range(0, network.shape[1], width):
        part = slice(start, start + width)
        total += float(priced_network(network[:, part], share[:, part], prices).min(axis=0).sum())
    return max(0.0, total)


def priced_network(network: Matrix, share: Matrix, prices: FloatArray) -> FloatArray:
    """Return (agents, atoms) the network cost and what the room costs; inf where barred."""
    priced = np.where(np.isfinite(network), share, 0.0) * prices[:, None]
    priced += network
    return np.asarray(priced)


def _dense(network: Matrix, share: Matrix, weight: FloatArray) -> Pairs:
    costs = network.astype(np.float64)
    shares = np.where(np.isfinite(costs), share, 0.0).astype(np.float64)
    return Pairs(len(network), None, costs, shares, weight)


def _sample(size: FloatArray, most: int) -> tuple[IntArray, FloatArray]:
    """Return at most so many atoms that stand for all, and how many each stands for.

    The largest half of them stand for themselves, of the others each for its like.
    """
    atoms = len(size)
    if atoms <= most:
        return np.arange(atoms), np.ones(atoms)
    order = np.argsort(-size, kind="stable")
    largest = most // 2
    small = order[largest:]
    edges = np.linspace(0, len(small), most - largest + 1).astype(np.intp)
    middle = small[(edges[:-1] + edges[1:]) // 2]
    sums = np.add.reduceat(size[small], edges[:-1])
    like = np.where(size[middle] > 0, sums / np.maximum(size[middle], 1e-300), np.diff(edges))
    return np.concatenate((order[:largest], middle)), np.concatenate((np.ones(largest), like))


def _best(
    pairs: Pairs, room: FloatArray, prices: FloatArray, stages: tuple[float, ...]
) -> FloatArray:
    most = float(
        np.where(np.isfinite(pairs.network), pairs.network, 0.0).max(axis=0) @ pairs.weight
    )
    if most <= 0:
        return prices
    scale = most / float(pairs.weight.sum())
    for width in stages:
        prices = _stage(_Soft(pairs, room, prices, width, scale), prices / scale) * scale
    return prices


class _Soft:
    """The dual with a soft minimum, its sign turned: convex in the prices, least at the best.

    Costs and prices are in units of `scale`, so that all atoms cost no more than their number,
    `most`.
    """

    def __init__(
        self, pairs: Pairs, room: FloatArray, prices: FloatArray, width: float, scale: float
    ) -> None:
        self._pairs, self._room = pairs, room
        self._costs = pairs.network / scale
        least = (self._costs + pairs.by_pair(prices / scale) * pairs.share).min(axis=0)
        self._width = width * np.maximum(least, _FEW)
        self.most = float(pairs.weight.sum())

    def at(self, prices: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the value, the gradient and the second derivatives."""
        pairs = self._pairs
        priced = self._costs + pairs.by_pair(prices) * pairs.share
        least = priced.min(axis=0)
        part = np.exp((least - priced) / self._width)
        whole = part.sum(axis=0)
        part *= pairs.share / whole
        soft = least - self._width * np.log(whole)
        value = float(prices @ self._room - soft @ pairs.weight)
        steep = part * (pairs.weight / self._width)
        second = -pairs.products(steep, part)
        second[np.diag_indices(len(prices))] += pairs.by_agent(steep * pairs.share)
        return value, self._room - pairs.by_agent(part * pairs.weight), second


def _stage(soft: _Soft, prices: FloatArray) -> FloatArray:
    """Return the prices at which the soft dual is least, from prices that are near."""
    value, slope, second = soft.at(prices)
    for _ in range(_STEPS):
        free = np.flatnonzero((prices > 0) | (slope <= 0))
        if not len(free) or np.abs(slope[free]).max() < _CLOSE or -value > soft.most:
            break  # beyond what all can cost, it is proven that the agents have no room
        step = np.zeros(len(prices))
        inner = second[np.ix_(free, free)]
        inner[np.diag_indices(len(free))] += 1e-9 * float(np.trace(inner)) / len(free) + _FEW
        step[free] = -np.linalg.solve(inner, slope[free])
        length = 1.0
        for _ in range(_HALVINGS):
            tried = np.maximum(0.0, prices + length * step)
            found = soft.at(tried)
            if found[0] <= value + _DESCENT * float(slope @ (tried - prices)):
                break
            length /= 2
        else:
            break
        prices, (value, slope, second) = tried, found
    return prices
