"""Every method on problems at the edge: one owner each, fixed ones stay, none below the bound."""

from __future__ import annotations

import numpy as np
import pytest

from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import BALANCERS, make_plan, prospects
from manager.balancing.lp import MOST_ATOMS
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem
from shared.messages import Message
from tests.manager.balancing.problems import path_tree


def plan_of(method: str, problem: Problem) -> Plan:
    """Return a plan after what must hold of any."""
    plan = make_plan(method, problem)
    assert len(plan.after) == problem.costs.shape[1]
    assert ((plan.after >= 0) & (plan.after < len(problem.names))).all()
    assert plan.bound_ms <= plan.makespan_after_ms * (1 + 1e-9)
    assert np.array_equal(np.flatnonzero(plan.before != plan.after), np.sort(plan.moves.unit))
    return plan


methods = pytest.mark.parametrize("method", BALANCERS)


@methods
def test_one_agent(method: str) -> None:
    """It gets everything."""
    costs = np.array([[3.0, 1, 2]])
    assert plan_of(method, Problem(("a",), costs, np.full(3, NO_OWNER))).after.tolist() == [0, 0, 0]


@methods
def test_two_agents_with_no_common_host(method: str) -> None:
    """Each gets what it reaches, whoever held it, and though nobody knows a neighbour."""
    unreachable = np.array([[False, False, True, True], [True, True, False, False]])
    problem = Problem(
        ("a", "b"),
        np.ones((2, 4)),
        np.array([1, NO_OWNER, 0, NO_OWNER]),
        unreachable=unreachable,
    )
    assert plan_of(method, problem).after.tolist() == [0, 0, 1, 1]


@methods
def test_all_costs_equal(method: str) -> None:
    """An even assignment is left as it is by what starts from it; any is even after it."""
    problem = Problem(
        ("a", "b", "c"), np.full((3, 9), 7.0), np.repeat(np.arange(3), 3), path_tree(3)
    )
    plan = plan_of(method, problem)
    assert plan.units_after.tolist() == [3, 3, 3]
    if method in {"default", "keep", "tree", "exchange"}:
        assert len(plan.moves) == 0


@methods
def test_a_unit_larger_than_all_others_together(method: str) -> None:
    """The makespan is that unit's where it is shortest; the others go elsewhere."""
    costs = np.array([[1000.0, *[1.0] * 20], [900.0, *[1.0] * 20], [1100.0, *[1.0] * 20]])
    problem = Problem(("a", "b", "c"), costs, np.zeros(21, dtype=int), path_tree(3))
    plan = plan_of(method, problem)
    assert plan.bound_ms == pytest.approx(900, rel=1e-6)
    if method not in {"random", "keep"}:
        assert plan.makespan_after_ms == 900


@methods
def test_an_agent_that_nobody_reaches_hosts_from(method: str) -> None:
    """An agent to which every host is unreachable gets none while another can."""
    unreachable = np.array([[True] * 6, [False] * 6])
    problem = Problem(
        ("cut off", "b"),
        np.ones((2, 6)),
        np.zeros(6, dtype=int),
        path_tree(2),
        unreachable=unreachable,
    )
    assert plan_of(method, problem).units_after.tolist() == [0, 6]


@methods
def test_hosts_that_nobody_reaches(method: str) -> None:
    """They are placed all the same: somebody must go on trying."""
    problem = Problem(
        ("a", "b"),
        np.ones((2, 4)),
        np.full(4, NO_OWNER),
        path_tree(2),
        unreachable=np.ones((2, 4), dtype=np.bool_),
    )
    plan_of(method, problem)


@methods
def test_no_units(method: str) -> None:
    """Before the first host is known there is an empty plan."""
    empty = Problem(("a", "b"), np.empty((2, 0)), np.empty(0, dtype=np.intp), path_tree(2))
    assert len(plan_of(method, empty).moves) == 0


@methods
def test_units_without_volume(method: str) -> None:
    """Units that cost nothing anywhere go to somebody."""
    plan_of(method, Problem(("a", "b"), np.zeros((2, 5)), np.full(5, NO_OWNER), path_tree(2)))


@methods
def test_pins_and_groups(method: str) -> None:
    """A pin holds for all on its address, against every cost."""
    problem = Problem(
        ("a", "b"),
        np.array([[100.0, 100, 1, 1], [1, 1, 1, 1]]),
        np.array([1, 1, NO_OWNER, 1]),
        path_tree(2),
        group=np.array([0, 0, 1, 2]),
        pins=np.array([0, NO_OWNER, NO_OWNER, NO_OWNER]),
    )
    assert plan_of(method, problem).after[:2].tolist() == [0, 0]


def test_prospects_are_the_plans_in_short() -> None:
    """Makespan, moves and distance from the bound of each method, as its plan has them."""
    rng = np.random.default_rng(1)
    costs = np.exp(rng.standard_normal((3, 40)))
    problem = Problem(("a", "b", "c"), costs, rng.integers(-1, 3, 40), path_tree(3))
    found = list(prospects(BALANCERS, problem))
    assert [one.method for one in found] == list(BALANCERS)
    for one in found:
        plan = make_plan(one.method, problem)
        assert (one.makespan_ms, one.moves) == (plan.makespan_after_ms, len(plan.moves))
        assert one.above_bound == plan.above_bound
        assert one.why is None


def test_a_prospect_that_is_refused_says_why() -> None:
    """Too many hosts for the linear program do not hide what the others would give."""
    units = MOST_ATOMS + 1
    problem = Problem(("a",), np.ones((1, units)), np.full(units, NO_OWNER))
    lp, keep = prospects(["lp", "keep"], problem)
    assert lp.why == Message("balancing.too_many_hosts", hosts=MOST_ATOMS + 1, most=MOST_ATOMS)
    assert keep.makespan_ms == units
