"""Exchanges between two agents: complete, never worse, and at the cut where costs meet."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from manager.balancing.cost import agent_costs, makespan
from manager.balancing.exchange import exchange
from manager.balancing.low_churn import pairs_of
from manager.balancing.placement import place
from manager.balancing.problem import Problem, collapse
from tests.manager.balancing.problems import path_tree, problems


@given(problems())
def test_the_result_is_complete_and_not_worse(problem: Problem) -> None:
    """Every atom has one owner that may have it, fixed ones stay, the makespan does not rise."""
    atoms = collapse(problem)
    start = place(atoms)
    owner = exchange(atoms, start, pairs_of(atoms)).owner
    assert np.isfinite(atoms.costs[owner, np.arange(atoms.count)]).all()
    assert np.array_equal(owner[atoms.fixed], atoms.start[atoms.fixed])
    before, _ = makespan(agent_costs(atoms.costs, start))
    after, _ = makespan(agent_costs(atoms.costs, owner))
    assert after <= before * (1 + 1e-9)


def test_each_gets_what_is_near_to_it() -> None:
    """Two agents with equal costs of the wrong hosts swap them, which no Move would do."""
    costs = np.array([[9.0, 9, 1, 1], [1, 1, 9, 9]])
    atoms = collapse(Problem(("a", "b"), costs, np.array([0, 0, 1, 1]), path_tree(2)))
    done = exchange(atoms, atoms.start, atoms.edges)
    assert done.owner.tolist() == [1, 1, 0, 0]
    assert done.exchanges == 1


def test_the_cut_is_where_costs_meet() -> None:
    """Of equally near hosts half go over."""
    atoms = collapse(Problem(("a", "b"), np.ones((2, 8)), np.zeros(8, dtype=int), path_tree(2)))
    assert np.bincount(exchange(atoms, atoms.start, atoms.edges).owner).tolist() == [4, 4]


def test_what_one_may_not_have_stays() -> None:
    """A host that only one of the two reaches is no part of the pool, but of the cost."""
    unreachable = np.array([[False] * 3, [True, False, False]])
    problem = Problem(
        ("a", "b"),
        np.array([[5.0, 1, 1], [1, 1, 1]]),
        np.array([0, 0, 0]),
        path_tree(2),
        unreachable=unreachable,
    )
    assert exchange(collapse(problem), np.array([0, 0, 0]), path_tree(2)).owner.tolist() == [
        0,
        1,
        1,
    ]


def test_near_pairs_exchange_besides_the_tree() -> None:
    """A pair that is no edge exchanges when it is named near; each pair counts once."""
    costs = np.ones((3, 6))
    near = np.array([[2, 0], [0, 1]])
    problem = Problem(("a", "b", "c"), costs, np.zeros(6, dtype=int), path_tree(2), near=near)
    atoms = collapse(problem)
    assert pairs_of(atoms).tolist() == [[0, 1], [0, 2]]
    assert set(exchange(atoms, atoms.start, pairs_of(atoms)).owner) == {0, 1, 2}


def test_without_pairs_nothing_moves() -> None:
    """Who has no neighbour exchanges with nobody."""
    atoms = collapse(Problem(("a", "b"), np.ones((2, 3)), np.zeros(3, dtype=int)))
    assert exchange(atoms, atoms.start, pairs_of(atoms)).owner.tolist() == [0, 0, 0]
