"""Give and Move: how much cost neighbours on the tree hand each other in one step.

Each agent wants all of its neighbourhood to have the neighbourhood's mean cost (Give); the two
ends of an edge then agree on one amount (Move). Invariants: Move(A,B) = -Move(B,A), which one
number per edge keeps by construction, and a step conserves the total cost.
Which units make up the amount is left to `tree_balancing`.
Source: seed 004, section 5.2.1, steps 1 and 2; figure 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray
from manager.balancing.errors import BalancingError

__all__ = ["GiveAndMove", "after_step", "explain", "give", "move", "tree_edges"]


def tree_edges(edges: Iterable[tuple[int, int]] | IntArray, agents: int) -> IntArray:
    """Return edges as an (edges, 2) array; refuse indices that name no agent and self-loops."""
    array = np.asarray(edges if isinstance(edges, np.ndarray) else list(edges), dtype=np.intp)
    array = array.reshape(-1, 2)
    if array.size and (array.min() < 0 or array.max() >= agents):
        wrong = array.max() if array.max() >= agents else array.min()
        raise BalancingError("balancing.unknown_agent", agent=int(wrong), agents=agents)
    if np.any(array[:, 0] == array[:, 1]):
        raise BalancingError("balancing.self_loop")
    return array


def give(costs: FloatArray, edges: IntArray) -> FloatArray:
    """Return how much cost each end of each edge wants to hand to the other.

    costs: (agents,) ms. edges: (edges, 2) agent indices. Returns (edges, 2): column 0 is
    Give(a, b), column 1 Give(b, a); positive means hand over, negative means receive.
    Source: seed 004, formula (3).
    """
    agents = len(costs)
    left, right = edges[:, 0], edges[:, 1]
    # Summed in one order whichever end is named first: Move jumps where Give changes its sign,
    # and rounding must not decide that.
    pairs = np.concatenate((edges, edges[:, ::-1]))
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    around = costs + np.bincount(pairs[:, 0], weights=costs[pairs[:, 1]], minlength=agents)
    mean = around / (1 + np.bincount(pairs[:, 0], minlength=agents))
    return np.column_stack((mean[left] - costs[right], mean[right] - costs[left]))


def move(gives: FloatArray) -> FloatArray:
    """Return the cost that really moves along each edge, positive from its first end to its second.

    gives: (edges, 2) from `give`. Returns (edges,) Move(a, b); Move(b, a) is its negative.
    Same signs: the difference. Opposite signs: the smaller amount, in the direction that the
    positive side wants. Either 0: nothing. The source prints the third case with the condition
    of the first; it follows from Move(A,B) = -Move(B,A).
    """
    ab, ba = gives[:, 0], gives[:, 1]
    smaller = np.minimum(np.abs(ab), np.abs(ba))
    same = np.sign(ab) == np.sign(ba)
    agreed = np.where(same, ab - ba, np.where(ab > 0, smaller, -smaller))
    return np.where((ab == 0) | (ba == 0), 0.0, agreed)


def after_step(costs: FloatArray, edges: IntArray, moves: FloatArray) -> FloatArray:
    """Return (agents,) costs after one step, counting what moves at the giver's cost."""
    agents = len(costs)
    out = np.bincount(edges[:, 0], weights=moves, minlength=agents)
    into = np.bincount(edges[:, 1], weights=moves, minlength=agents)
    return np.asarray(costs - out + into, dtype=np.float64)


@dataclass(frozen=True)
class GiveAndMove:
    """One step of equalisation laid open, for people.

    costs, after: (agents,). gives: (edges, 2). moves: (edges,).
    """

    names: tuple[str, ...]
    edges: IntArray
    costs: FloatArray
    gives: FloatArray
    moves: FloatArray
    after: FloatArray


def explain(
    names: Sequence[str], edges: Iterable[tuple[int, int]] | IntArray, costs: Iterable[float]
) -> GiveAndMove:
    """Compute one step from plain values, with everything in between kept.

    names: one per agent. edges: pairs of agent indices. costs: one per agent, any unit.
    """
    before = np.array(list(costs), dtype=np.float64)
    if len(before) != len(names):
        raise BalancingError("balancing.wrong_lengths", given=len(names), agents=len(before))
    array = tree_edges(edges, len(before))
    gives = give(before, array)
    moves = move(gives)
    after = after_step(before, array, moves)
    return GiveAndMove(tuple(names), array, before, gives, moves, after)
