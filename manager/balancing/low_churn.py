"""The default method: balance the costs from round to round with few moves; place new units.

The taker of a moved unit must fetch it whole again, because it remembers nothing of it; so a plan
has a limit of moves, and each must pay for itself. The largest units hold nearly all of the cost:
when only those may move, a tenth of the moves brings nearly the whole gain (ADR 60).
Several ways are tried, each with the rest kept where it is: easing the busiest; equalisation along
the tree, then exchanges; prices over the largest few, and over more. The plan is the one whose
makespan is least when moves are paid for. Where that still leaves a makespan far above the bound,
as after a random deal, everything may move.
Where only a part may move, the rest is one pinned atom for each agent (`subproblem_of`), so that
every method sees its load without the columns behind it.
Invariant: at most `most_moves` of the units that have an owner change it, unless the change is
great; a unit without an owner, or whose owner may no longer have it, is placed in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from manager.balancing.arrays import NO_OWNER, FloatArray, IntArray
from manager.balancing.bound import Bound, lower_bound
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.errors import BalancingError
from manager.balancing.exchange import exchange
from manager.balancing.load_transfer import ease_busiest
from manager.balancing.placement import place
from manager.balancing.prices import assign_by_prices
from manager.balancing.problem import Atoms
from manager.balancing.tree_balancing import TreeOptions, equalise
from shared.messages import Message

__all__ = ["Churn", "Settled", "Subproblem", "pairs_of", "settle", "subproblem_of"]

_FREE: Final = (0.5, 1.0, 2.0, 3.0)
"""Times the limit: of the units that may move about a third does."""
_FREE_IN_GREAT_CHANGE: Final = (0.5, 1.0)
"""Of all units."""
_EASING_MOVES: Final = 1_000


@dataclass(frozen=True)
class Churn:
    """Limits on moves.

    most_moves: share of the units with an owner that one plan may move. worth: the share by which
    the makespan must fall if all units moved, and in proportion if fewer do. great_change: makespan
    over bound above which neither the limit holds. error: of predicted ends, as a share, which a
    move for the end must gain more than.
    """

    most_moves: float = 0.1
    worth: float = 0.25
    great_change: float = 1.1
    error: float = 0.15

    def __post_init__(self) -> None:
        for name, least, most in (
            ("most_moves", 0.0, 1.0),
            ("worth", 0.0, 1.0),
            ("great_change", 1.0, np.inf),
            ("error", 0.0, 1.0),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                if np.isinf(most):
                    raise BalancingError("balancing.too_small", name=name, value=value, least=least)
                raise BalancingError(
                    "balancing.out_of_range", name=name, value=value, least=least, most=most
                )


@dataclass(frozen=True)
class Settled:
    """owner: (atoms,). way: how it came about. moved: units that had an owner and get another."""

    owner: IntArray
    way: Message
    moved: int
    great: bool


def pairs_of(atoms: Atoms) -> IntArray:
    """Return (pairs, 2) who may exchange: neighbours on the tree, and the nearest, each once."""
    both = np.sort(np.concatenate((atoms.edges, atoms.near)), axis=1)
    return np.unique(both, axis=0).reshape(-1, 2)


def settle(atoms: Atoms, bound: Bound, churn: Churn) -> Settled:
    """Return the best of several assignments when moves are paid for.

    bound: from `lower_bound(atoms.costs)`. Deterministic: of equals the first way counts.
    """
    held = atoms.start != NO_OWNER
    total = int(atoms.sizes[held].sum())
    if not np.any(held & ~atoms.fixed):
        return _settled(atoms, assign_by_prices(atoms, bound).owner, _prices_way(1.0), False)
    placed = place(atoms)
    most = churn.most_moves * total
    found = [
        one
        for one in (
            _settled(atoms, _without_needless(atoms, owner), way, False)
            for way, owner in _ways(atoms, bound, placed, churn)
        )
        if one.moved <= most
    ]
    best = min(found, key=lambda one: _paid(atoms, one, churn))
    limit = churn.great_change * bound.makespan_ms
    if _makespan(atoms, best) > limit:
        # Few moves cannot do it. In a great change they are cheap beside what they save.
        for share in _FREE_IN_GREAT_CHANGE:
            owner = _prices_over(atoms, bound, share)
            found.append(_settled(atoms, owner, _prices_way(share), True))
        best = min(found, key=lambda one: _paid(atoms, one, churn))
    return best


def _ways(
    atoms: Atoms, bound: Bound, placed: IntArray, churn: Churn
) -> Iterator[tuple[Message, IntArray]]:
    """Yield assignments with what they are; those with the fewest moves come first."""
    yield Message("balancing.needed_only"), placed
    enough = bound.makespan_ms * 1.002
    eased = ease_busiest(atoms, placed, enough_ms=enough, most_moves=_EASING_MOVES)
    yield Message("balancing.busiest_eased"), eased
    if len(atoms.edges):
        part = subproblem_of(atoms, placed, _largest(atoms, churn.most_moves * 2))
        start = np.concatenate((placed[part.free], np.arange(atoms.agents)))
        even = equalise(part.atoms, start, TreeOptions()).owner
        even = exchange(part.atoms, even, pairs_of(atoms)).owner
        yield Message("balancing.tree_exchanges"), part.whole(even)
    for times in _FREE:
        share = churn.most_moves * times
        if 0 < share < 1:
            yield _prices_way(share), _prices_over(atoms, bound, share)


def _prices_way(share: float) -> Message:
    if share >= 1:
        return Message("balancing.prices_over_all")
    return Message("balancing.prices_over_largest", largest_share=share)


def _prices_over(atoms: Atoms, bound: Bound, share: float) -> IntArray:
    """Return owners after prices; only the largest units and those without an owner may move."""
    if share >= 1:
        return assign_by_prices(atoms, bound).owner
    part = subproblem_of(atoms, atoms.start, _largest(atoms, share))
    filled = assign_by_prices(part.atoms, lower_bound(part.atoms.costs))
    return part.whole(filled.owner)


def _largest(atoms: Atoms, share: float) -> IntArray:
    """Return the atoms of greatest cost, at most a share of units, and those without an owner."""
    held = np.flatnonzero((atoms.start != NO_OWNER) & ~atoms.fixed)
    cost = _own(atoms, held)
    order = held[np.argsort(-cost, kind="stable")]
    allowed = share * float(atoms.sizes[atoms.start != NO_OWNER].sum())
    count = int(np.searchsorted(np.cumsum(atoms.sizes[order]), allowed, side="right"))
    return np.concatenate((np.flatnonzero(atoms.start == NO_OWNER), order[:count]))


def _own(atoms: Atoms, which: IntArray) -> FloatArray:
    """Return what some atoms cost the owners that they have now."""
    return np.asarray(atoms.costs[atoms.start[which], which], dtype=np.float64)


def _without_needless(atoms: Atoms, owner: IntArray) -> IntArray:
    """Take back what need not move: the makespan stays where it is, the smallest gains go first."""
    moved = np.flatnonzero((owner != atoms.start) & (atoms.start != NO_OWNER))
    own = _own(atoms, moved)
    kept = owner.copy()
    loads = agent_costs(atoms.costs, owner)
    longest = float(loads.max())
    for place_in_line in np.argsort(own, kind="stable"):
        atom = moved[place_in_line]
        home = atoms.start[atom]
        if loads[home] + own[place_in_line] <= longest:
            loads[kept[atom]] -= atoms.costs[kept[atom], atom]
            loads[home] += own[place_in_line]
            kept[atom] = home
    return kept


def _settled(atoms: Atoms, owner: IntArray, way: Message, great: bool) -> Settled:
    changed = (owner != atoms.start) & (atoms.start != NO_OWNER)
    return Settled(owner, way, int(atoms.sizes[changed].sum()), great)


def _makespan(atoms: Atoms, one: Settled) -> float:
    return makespan(agent_costs(atoms.costs, one.owner))[0]


def _paid(atoms: Atoms, one: Settled, churn: Churn) -> float:
    """Return the makespan with the moves paid for."""
    all_units = max(1, int(atoms.sizes.sum()))
    return _makespan(atoms, one) * (1 + churn.worth * one.moved / all_units)


@dataclass(frozen=True)
class Subproblem:
    """atoms: the free ones, in their order, then what stays. free: which of the whole they are."""

    atoms: Atoms
    free: IntArray
    _owner: IntArray

    def whole(self, owner: IntArray) -> IntArray:
        """Return (atoms of the whole,) owners from owners of the part."""
        owners = self._owner.copy()
        owners[self.free] = owner[: len(self.free)]
        return owners


def subproblem_of(atoms: Atoms, owner: IntArray, free: IntArray) -> Subproblem:
    """Return the part in which only `free` may move.

    owner: (atoms,) complete but for `free`. free: indices of atoms that are not fixed.
    """
    count, agents = len(free), atoms.agents
    stays = owner.copy()
    stays[free] = -1
    costs = np.full((agents, count + agents), np.inf, dtype=atoms.costs.dtype)
    costs[:, :count] = atoms.costs[:, free]
    costs[np.arange(agents), count + np.arange(agents)] = agent_costs(atoms.costs, stays)
    part = Atoms(
        names=atoms.names,
        costs=costs,
        sizes=np.concatenate((atoms.sizes[free], np.zeros(agents, dtype=np.intp))),
        start=np.concatenate((atoms.start[free], np.arange(agents, dtype=np.intp))),
        fixed=np.concatenate((atoms.fixed[free], np.ones(agents, dtype=np.bool_))),
        of_unit=np.arange(count + agents, dtype=np.intp),
        edges=atoms.edges,
        near=atoms.near,
        unreached=0,
    )
    return Subproblem(part, free, stays)
