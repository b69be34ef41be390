"""Every method gives a complete plan that keeps the rules, and says what it does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import BALANCERS, Options, compare, make_plan
from manager.balancing.cost import agent_costs
from manager.balancing.errors import BalancingError
from manager.balancing.problem import Problem
from manager.balancing.tree_balancing import TreeOptions
from shared.messages import Message
from tests.manager.balancing.problems import path_tree, problems, same_owner_in_groups

methods = st.sampled_from(sorted(BALANCERS))


def small() -> Problem:
    """Return two agents, four units, one of them nobody's."""
    costs = np.array([[4000.0, 6000, 9000, 1000], [4000, 2000, 3000, 5000]])
    return Problem(("north", "south"), costs, np.array([0, 0, 0, NO_OWNER]), path_tree(2))


@given(problems(), methods, st.integers(0, 9))
def test_a_plan_is_complete_and_within_the_rules(problem: Problem, method: str, seed: int) -> None:
    """Exactly one owner each, groups whole, pins kept, nothing forbidden, bound below makespan."""
    plan = make_plan(method, problem, Options(seed=seed))
    units = np.arange(problem.costs.shape[1])
    assert plan.after.shape == units.shape
    assert ((plan.after >= 0) & (plan.after < len(problem.names))).all()
    assert same_owner_in_groups(problem, plan.after)
    assert problem.pins is not None
    assert problem.forbidden is not None
    pinned = problem.pins != NO_OWNER
    assert np.array_equal(plan.after[pinned], problem.pins[pinned])
    assert problem.group is not None
    beside_a_pin = np.isin(problem.group, problem.group[pinned])
    assert not problem.forbidden[plan.after, units][~beside_a_pin].any()
    assert plan.bound_ms <= plan.makespan_after_ms * (1 + 1e-9) + 1e-9
    assert plan.units_after.sum() == len(units)


@given(problems(), methods)
def test_moves_are_the_difference(problem: Problem, method: str) -> None:
    """Carrying out the moves on the owners before gives the owners after, with their costs."""
    plan = make_plan(method, problem)
    owner = plan.before.copy()
    loads = plan.costs_before_ms.copy()
    for move in plan.moves:
        assert owner[move.unit] == move.giver != move.taker
        owner[move.unit] = move.taker
        if move.giver == NO_OWNER:
            assert move.gain_ms == 0
        else:
            assert move.gain_ms == problem.costs[move.giver, move.unit]
            loads[move.giver] -= move.gain_ms
        assert move.cost_ms == problem.costs[move.taker, move.unit]
        loads[move.taker] += move.cost_ms
    assert np.array_equal(owner, plan.after)
    assert np.allclose(loads, plan.costs_after_ms, rtol=1e-9, atol=1e-3)
    saved = plan.moves.gain_ms - plan.moves.cost_ms
    assert (np.diff(saved) <= 0).all()


@given(problems(), methods)
def test_plans_are_deterministic(problem: Problem, method: str) -> None:
    """The same problem and options give the same plan."""
    first, again = make_plan(method, problem), make_plan(method, problem)
    assert np.array_equal(first.after, again.after)
    assert first.explanation == again.explanation


@given(problems(constrained=False))
def test_keep_moves_nothing_that_has_an_owner(problem: Problem) -> None:
    """Without bans and groups, keep only places what is nobody's."""
    plan = make_plan("keep", problem)
    assert {move.giver for move in plan.moves} <= {NO_OWNER}


@given(problems(constrained=False))
def test_tree_is_never_above_keep(problem: Problem) -> None:
    """Equalisation starts from what keep proposes and only improves on it."""
    plans = compare(["keep", "tree"], problem)
    assert plans["tree"].makespan_after_ms <= plans["keep"].makespan_after_ms


def test_the_registry_names_the_methods() -> None:
    """The methods that settings, console and rounds know."""
    assert list(BALANCERS) == ["default", "random", "keep", "tree", "exchange", "prices", "lp"]


def test_a_plan_says_whose_makespan_it_is() -> None:
    """Before and after, with the agent's name and the distance from the bound."""
    plan = make_plan("tree", small())
    assert plan.makespan_before_ms == 19000
    assert plan.makespan_after_ms < 19000
    assert plan.above_bound == plan.makespan_after_ms / plan.bound_ms
    text = " ".join(map(str, plan.explanation))
    assert "Before, it was 19 s (north)" in text
    assert "1 unit had no owner" in text
    assert "north gives south" in text


def test_keep_moves_what_must_move() -> None:
    """What is new, pinned elsewhere, barred, or apart from the rest of its address."""
    costs = np.ones((2, 6))
    before = np.array([NO_OWNER, 0, 0, 0, 1, 0])
    pins = np.array([NO_OWNER, 1, NO_OWNER, NO_OWNER, NO_OWNER, NO_OWNER])
    unreachable = np.zeros((2, 6), dtype=np.bool_)
    unreachable[0, 2] = True
    group = np.array([0, 1, 2, 3, 3, 3])
    problem = Problem(("a", "b"), costs, before, path_tree(2), group, pins, None, unreachable)
    assert {move.unit for move in make_plan("keep", problem).moves} == {0, 1, 2, 4}


def test_an_owner_that_cannot_reach_keeps_a_finite_cost_before() -> None:
    """A plan shows what it cost before in numbers, not infinity."""
    unreachable = np.array([[True, False, False, False], [False] * 4])
    given = small()
    problem = Problem(given.names, given.costs, given.before, given.edges, unreachable=unreachable)
    assert np.isfinite(make_plan("tree", problem).costs_before_ms).all()


def test_unreachable_everywhere_is_said() -> None:
    """Units that nobody reaches are placed, and the plan says so."""
    given = small()
    unreachable = np.zeros((2, 4), dtype=np.bool_)
    unreachable[:, 1] = True
    plan = make_plan(
        "keep", Problem(given.names, given.costs, given.before, unreachable=unreachable)
    )
    assert Message("balancing.unreached", addresses=1) in plan.explanation


def test_a_missing_tree_is_said() -> None:
    """Without a tree equalisation cannot move anything, and says why."""
    given = small()
    plan = make_plan("tree", Problem(given.names, given.costs, given.before))
    assert Message("balancing.no_tree") in plan.explanation


def test_steps_are_in_the_plan() -> None:
    """The console draws Give and Move on the edges of each step."""
    plan = make_plan("tree", small(), Options(tree=TreeOptions(steps=1)))
    assert len(plan.steps) == 1
    assert np.array_equal(plan.steps[0].loads_after, agent_costs(small().costs, plan.after))


@pytest.mark.parametrize(
    ("name", "said"), [("tre", "did you mean tree"), ("xyz", "known: default, random, keep")]
)
def test_an_unknown_method_is_refused(name: str, said: str) -> None:
    """A name that is not in the registry is answered with the nearest."""
    with pytest.raises(BalancingError, match=said):
        make_plan(name, small())


def test_no_units_at_all() -> None:
    """Before the first host is known every method gives an empty plan."""
    empty = Problem(("a", "b"), np.empty((2, 0)), np.empty(0, dtype=np.intp), path_tree(2))
    for plan in compare(BALANCERS, empty).values():
        assert len(plan.after) == len(plan.moves) == 0
        assert plan.units_after.tolist() == [0, 0]
        assert plan.above_bound == 1


@given(problems(), methods)
def test_float32_is_enough(problem: Problem, method: str) -> None:
    """Costs of half the width give a complete plan too."""
    narrow = Problem(
        problem.names,
        problem.costs.astype(np.float32),
        problem.before,
        problem.edges,
        problem.group,
        problem.pins,
        problem.forbidden,
        problem.unreachable,
    )
    plan = make_plan(method, narrow)
    assert (plan.after >= 0).all()
    assert same_owner_in_groups(narrow, plan.after)
