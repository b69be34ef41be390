"""Owners at the prices of room: the largest atoms first, then new prices for what is left.

Prices say where an atom is cheapest but for those that two agents want alike, which the relaxation
divides. A large one of them would leave an agent overloaded; so large atoms are placed while
smaller ones can still go elsewhere, size by size, and each time the prices are found again for the
room that is left.
Invariant: each atom has one owner that may have it. An agent has more than its room only where an
atom found none anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from manager.balancing.arrays import NO_OWNER, BoolArray, FloatArray, IntArray, Matrix
from manager.balancing.room_prices import (
    first_prices,
    least_network,
    next_prices,
    pairs_of,
    priced_network,
    sharp_prices,
)

__all__ = ["Filled", "fill_rooms"]

_SIZES: Final = (0.1, 0.03, 0.01, 0.003, 0.0)
"""Shares of a room, where it is least: atoms of at least as much are placed together."""
_BLOCK: Final = 512


@dataclass(frozen=True)
class Filled:
    """owner: (atoms,). least: a network cost that no owners with room for their work are below."""

    owner: IntArray
    least: float


def fill_rooms(network: Matrix, share: Matrix) -> Filled:
    """Return owners that cost the network little, in rooms of 1.

    network, share: (agents, atoms); the first is inf where a pair is barred, with one finite entry
    in each column.
    """
    agents, atoms = network.shape
    owner = np.full(atoms, NO_OWNER, dtype=np.intp)
    load = np.zeros(agents)
    may = np.isfinite(network)
    size = np.where(may, share, np.inf).min(axis=0, initial=np.inf)
    _place_without_choice(share, may, size, owner, load)
    rest = np.flatnonzero(owner == NO_OWNER)
    chosen = np.flatnonzero(owner != NO_OWNER)
    least = float(network[owner[chosen], chosen].sum(dtype=np.float64))
    if not len(rest):
        return Filled(owner, least)
    if len(chosen):
        network, share, size = network[:, rest], share[:, rest], size[rest]
    owner[rest], more = _fill(network, share, size, load)
    return Filled(owner, least + more)


def _place_without_choice(
    share: Matrix, may: BoolArray, size: FloatArray, owner: IntArray, load: FloatArray
) -> None:
    """Place what one agent alone may have, and what no room holds, in place.

    Prices could not change that. What is too large goes where least is, the largest first.
    """
    sole = np.flatnonzero(np.count_nonzero(may, axis=0) == 1)
    owner[sole] = may[:, sole].argmax(axis=0)
    load += np.bincount(owner[sole], share[owner[sole], sole], len(load))
    large = np.flatnonzero((size > 1) & (owner == NO_OWNER))
    for atom in large[np.argsort(-size[large], kind="stable")]:
        agent = int(np.where(may[:, atom], load + share[:, atom], np.inf).argmin())
        owner[atom] = agent
        load[agent] += share[agent, atom]


def _fill(
    network: Matrix, share: Matrix, size: FloatArray, load: FloatArray
) -> tuple[IntArray, float]:
    """Return owners of atoms that have a choice, and what they cost at least.

    load: (agents,) of the rooms so far, changed in place.
    """
    owner = np.full(len(size), NO_OWNER, dtype=np.intp)
    room = np.maximum(1 - load, 0.0)
    rough = first_prices(network, share, room)
    pairs = pairs_of(network, share, rough)
    prices = sharp_prices(pairs, room, rough)
    least = least_network(network, share, room, prices)
    for smallest in _SIZES:
        left = np.flatnonzero(owner == NO_OWNER)
        now = left[size[left] >= smallest]
        if not len(now):
            continue
        if len(left) < len(size):
            prices = next_prices(pairs.take(left), np.maximum(1 - load, 0.0), prices)
        _place(network, share, prices, now, owner, load)
    return owner, least


def _place(
    network: Matrix,
    share: Matrix,
    prices: FloatArray,
    which: IntArray,
    owner: IntArray,
    load: FloatArray,
) -> None:
    """Give some atoms, the greatest regret first, to the cheapest agent with room, in place.

    In a block, an agent with room for all that choose it gets them at once; the others go singly,
    and where no agent has room, to the one that is then the least full.
    """
    order = which[np.argsort(-_regret(network, share, prices, which), kind="stable")]
    agents = len(network)
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        priced = priced_network(network[:, block], share[:, block], prices)
        shares = np.where(np.isfinite(priced), share[:, block], np.inf)
        first = priced.argmin(axis=0)
        taken = shares[first, np.arange(len(block))]
        asked = np.bincount(first, weights=taken, minlength=agents)
        fits_all = load + asked <= 1
        owner[block] = first
        load += np.where(fits_all, asked, 0.0)
        for place in np.flatnonzero(~fits_all[first]).tolist():
            ends = load + shares[:, place]
            fits = ends <= 1
            agent = int(
                np.where(fits, priced[:, place], np.inf).argmin() if fits.any() else ends.argmin()
            )
            owner[block[place]] = agent
            load[agent] = ends[agent]


def _regret(network: Matrix, share: Matrix, prices: FloatArray, which: IntArray) -> FloatArray:
    """Return (which,) what the second choice costs more than the first; inf: there is none."""
    regret = np.full(len(which), np.inf)
    if len(network) == 1:
        return regret
    for start in range(0, len(which), _BLOCK):
        part = slice(start, start + _BLOCK)
        columns = which[part]
        priced = priced_network(network[:, columns], share[:, columns], prices)
        lowest = np.partition(priced, 1, axis=0)[:2]
        regret[part] = lowest[1] - lowest[0]
    return regret
