"""Equalisation along the tree: every unit keeps one owner, and the result is never worse."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.cost import agent_costs, makespan
from manager.balancing.errors import BalancingError
from manager.balancing.give_and_move import give, move
from manager.balancing.placement import place
from manager.balancing.problem import Atoms, Problem, collapse
from manager.balancing.tree_balancing import Accept, TreeOptions, equalise
from tests.manager.balancing.problems import path_tree, problems

RULES: tuple[Accept, ...] = ("source", "improves")


def atoms_of(costs: list[list[float]], before: list[int], edges: list[tuple[int, int]]) -> Atoms:
    """Return a problem without groups, pins or bans as atoms."""
    return collapse(
        Problem(
            tuple("ABCDEF"[: len(costs)]),
            np.array(costs, dtype=np.float64),
            np.array(before, dtype=np.intp),
            np.array(edges, dtype=np.intp).reshape(-1, 2),
        )
    )


@given(problems(), st.sampled_from(RULES), st.one_of(st.none(), st.integers(0, 4)))
def test_the_result_is_complete_and_not_worse(
    problem: Problem, accept: Accept, steps: int | None
) -> None:
    """Every atom has one owner that may have it, fixed ones stay, the makespan does not rise."""
    atoms = collapse(problem)
    start = place(atoms)
    result = equalise(atoms, start, TreeOptions(steps=steps, accept=accept))
    assert np.isfinite(atoms.costs[result.owner, np.arange(atoms.count)]).all()
    assert np.array_equal(result.owner[atoms.fixed], atoms.start[atoms.fixed])
    before, _ = makespan(agent_costs(atoms.costs, start))
    after, _ = makespan(agent_costs(atoms.costs, result.owner))
    assert after <= before
    if steps is not None:
        assert len(result.steps) <= steps


@given(problems())
def test_improving_steps_never_raise_the_maximum(problem: Problem) -> None:
    """With accept="improves" no step in between lies above the one before."""
    atoms = collapse(problem)
    start = place(atoms)
    result = equalise(atoms, start, TreeOptions())
    heights = [makespan(agent_costs(atoms.costs, start))[0]]
    heights += [step.makespan_ms for step in result.steps]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(heights))


@given(problems(), st.sampled_from(RULES))
def test_steps_say_what_they_did(problem: Problem, accept: Accept) -> None:
    """A step's Move is that of its costs, cost moves only the way Move points, and loads add up."""
    atoms = collapse(problem)
    result = equalise(atoms, place(atoms), TreeOptions(accept=accept))
    for step in result.steps:
        assert np.array_equal(step.wanted, move(give(step.loads_before, step.edges)))
        assert (step.units * step.wanted >= 0).all()
        assert (step.moved * step.wanted >= 0).all()
        assert step.makespan_ms == step.loads_after[step.busiest] == step.loads_after.max()
    for one, following in pairwise(result.steps):
        assert np.array_equal(one.loads_after, following.loads_before)


@given(problems())
def test_the_source_gives_no_more_than_move(problem: Problem) -> None:
    """With accept="source" what crosses an edge fits in Move, at the giver's cost."""
    atoms = collapse(problem)
    for step in equalise(atoms, place(atoms), TreeOptions(accept="source")).steps:
        assert (np.abs(step.moved) <= np.abs(step.wanted) * (1 + 1e-9) + 1e-9).all()


def test_a_unit_goes_to_the_nearest_neighbour_with_move_left() -> None:
    """Figure 9: of the neighbours that are to receive, the nearest gets the unit."""
    costs = [[10.0, 10.0], [9.0, 9.0], [3.0, 9.0], [9.0, 3.0]]
    atoms = atoms_of(costs, [0, 0], [(0, 1), (0, 2), (0, 3)])
    result = equalise(atoms, atoms.start, TreeOptions(steps=1))
    assert result.owner.tolist() == [2, 3]


def test_units_cross_one_edge_a_step() -> None:
    """A unit that was just received is not passed on in the same step."""
    atoms = atoms_of([[1.0] * 9] * 3, [0] * 9, path_tree(3).tolist())
    one = equalise(atoms, atoms.start, TreeOptions(steps=1))
    assert 2 not in one.owner
    assert 2 in equalise(atoms, atoms.start, TreeOptions(steps=5)).owner


def test_where_the_source_sticks() -> None:
    """One unit larger than Move, 30 times cheaper at a neighbour, moves if improving counts."""
    atoms = atoms_of([[300.0, 1], [10, 1]], [0, 1], [(0, 1)])
    stuck = equalise(atoms, atoms.start, TreeOptions(accept="source"))
    moved = equalise(atoms, atoms.start, TreeOptions(accept="improves"))
    assert stuck.owner.tolist() == [0, 1]
    assert moved.owner[0] == 1


@pytest.mark.parametrize("accept", RULES)
def test_what_costs_nothing_stays(accept: Accept) -> None:
    """Moving a unit without volume evens nothing."""
    atoms = atoms_of([[0.0, 9.0, 9.0], [0.0, 9.0, 9.0]], [0, 0, 0], [(0, 1)])
    assert equalise(atoms, atoms.start, TreeOptions(accept=accept)).owner[0] == 0


def test_a_move_must_pay_for_itself() -> None:
    """With min_gain_ms a transfer that lowers the greater cost by less is left alone."""
    atoms = atoms_of([[100.0, 10], [10, 10]], [0, 0], [(0, 1)])
    assert equalise(atoms, atoms.start, TreeOptions(min_gain_ms=50)).owner.tolist() == [1, 0]
    assert equalise(atoms, atoms.start, TreeOptions(min_gain_ms=150)).owner.tolist() == [0, 0]


def test_the_best_step_is_kept_when_the_maximum_rises() -> None:
    """Figure 8 in units of one: a step leaves D with 11; of one step, the start is the best."""
    loads = {"A": 10, "B": 10, "C": 6, "D": 4, "E": 10, "F": 10}
    before = [agent for agent, load in enumerate(loads.values()) for _ in range(2 * load)]
    tree = [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)]
    atoms = atoms_of([[0.5] * len(before)] * 6, before, tree)
    one = equalise(atoms, atoms.start, TreeOptions(steps=1, accept="source"))
    assert one.steps[0].loads_after.tolist() == [8, 8, 8, 11, 7.5, 7.5]
    assert one.best_step == 0
    assert one.owner.tolist() == before
    more = equalise(atoms, atoms.start, TreeOptions(accept="source"))
    assert more.best_step > 1
    assert more.steps[more.best_step - 1].makespan_ms < 10


def test_without_a_tree_nothing_moves() -> None:
    """An agent without neighbours exchanges with nobody."""
    atoms = atoms_of([[9.0, 9], [1, 1]], [0, 0], [])
    assert equalise(atoms, atoms.start, TreeOptions()).owner.tolist() == [0, 0]


@pytest.mark.parametrize("wrong", ["steps", "max_steps", "patience", "min_gain_ms"])
def test_negative_options_are_refused(wrong: str) -> None:
    """Numbers of steps and gains are not negative."""
    options: dict[str, Any] = {wrong: -1}
    with pytest.raises(BalancingError, match=f"{wrong} = -1"):
        TreeOptions(**options)
