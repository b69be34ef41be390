"""Give and Move are the source's, to the digits of figure 8."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import FloatArray, IntArray
from manager.balancing.errors import BalancingError
from manager.balancing.give_and_move import after_step, explain, give, move, tree_edges

NAMES = ["A", "B", "C", "D", "E", "F"]
A, B, C, D, E, F = range(6)
EDGES = [(A, C), (B, C), (C, D), (D, E), (D, F)]
COSTS = [10, 10, 6, 4, 10, 10]


@st.composite
def trees(draw: st.DrawFn) -> tuple[FloatArray, IntArray]:
    """Draw agents with costs on any tree."""
    costs = draw(st.lists(st.one_of(st.integers(0, 20), st.floats(0, 1e9)), min_size=1, max_size=8))
    pairs = [(draw(st.integers(0, child - 1)), child) for child in range(1, len(costs))]
    return np.array(costs, dtype=np.float64), tree_edges(pairs, len(costs))


def test_figure_8() -> None:
    """Give, Move and the costs after one step of figure 8 are those of the source."""
    step = explain(NAMES, EDGES, COSTS)
    assert step.gives.tolist() == [[2, -2.5], [2, -2.5], [3.5, 1.5], [-2.5, 3], [-2.5, 3]]
    assert step.moves.tolist() == [2, 2, 2, -2.5, -2.5]
    assert step.after.tolist() == [8, 8, 8, 11, 7.5, 7.5]


def test_the_maximum_may_rise_for_a_step() -> None:
    """In figure 8 three neighbours give to D at once, and it ends above everybody."""
    step = explain(NAMES, EDGES, COSTS)
    assert step.after.max() > step.costs.max()


@pytest.mark.parametrize(
    ("gives", "moved"),
    [
        ((3.5, 1.5), 2.0),
        ((1.5, 3.5), -2.0),
        ((-1.0, -4.0), 3.0),
        ((2.0, -2.5), 2.0),
        ((3.0, -1.0), 1.0),
        ((-2.5, 3.0), -2.5),
        ((0.0, 5.0), 0.0),
        ((5.0, 0.0), 0.0),
        ((0.0, 0.0), 0.0),
        ((1e-200, 1e-200), 0.0),
        ((2e-200, 1e-200), 1e-200),
    ],
)
def test_the_table_of_move(gives: tuple[float, float], moved: float) -> None:
    """Each case of the table of Move, the misprinted one corrected."""
    assert move(np.array([gives])).tolist() == [moved]


@given(trees())
def test_move_is_antisymmetric(tree: tuple[FloatArray, IntArray]) -> None:
    """Move(A,B) = -Move(B,A), whichever end of an edge is named first."""
    costs, edges = tree
    swapped = edges[:, ::-1]
    assert np.array_equal(move(give(costs, edges)), -move(give(costs, swapped)))


@given(trees())
def test_a_step_conserves_cost(tree: tuple[FloatArray, IntArray]) -> None:
    """What one agent loses another gains."""
    costs, edges = tree
    after = after_step(costs, edges, move(give(costs, edges)))
    assert np.isclose(after.sum(), costs.sum(), rtol=1e-9)


@given(trees())
def test_give_is_formula_3(tree: tuple[FloatArray, IntArray]) -> None:
    """The vectorised Give equals the formula written out for each pair of neighbours."""
    costs, edges = tree
    near: dict[int, list[int]] = {agent: [] for agent in range(len(costs))}
    for a, b in edges.tolist():
        near[a].append(b)
        near[b].append(a)

    def formula(a: int, b: int) -> float:
        return float((costs[a] + sum(costs[j] for j in near[a])) / (len(near[a]) + 1) - costs[b])

    expected = [[formula(a, b), formula(b, a)] for a, b in edges.tolist()]
    assert np.allclose(give(costs, edges), np.array(expected).reshape(-1, 2), atol=1e-6)


@given(trees())
def test_even_costs_stay(tree: tuple[FloatArray, IntArray]) -> None:
    """Where all costs are equal nothing moves."""
    costs, edges = tree
    even = np.full_like(costs, 7.0)
    assert np.all(move(give(even, edges)) == 0)


def test_steps_lead_to_the_mean() -> None:
    """Repeated steps on divisible cost bring every agent of figure 8 near the mean."""
    costs = np.array(COSTS, dtype=np.float64)
    edges = tree_edges(EDGES, 6)
    for _ in range(60):
        costs = after_step(costs, edges, move(give(costs, edges)))
    assert np.allclose(costs, np.mean(COSTS), atol=0.05)


@pytest.mark.parametrize("edges", [[(0, 6)], [(-1, 0)], [(2, 2)]])
def test_wrong_edges_are_refused(edges: list[tuple[int, int]]) -> None:
    """An edge that names no agent, or the same one twice, is refused."""
    with pytest.raises(BalancingError):
        explain(NAMES, edges, COSTS)


def test_names_and_costs_must_match() -> None:
    """One cost for each name."""
    with pytest.raises(BalancingError, match="6 names for 5 agents"):
        explain(NAMES, EDGES, COSTS[:5])
