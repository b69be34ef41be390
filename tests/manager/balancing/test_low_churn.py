"""The default method: few moves while that is enough, everything anew where it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import Options, make_plan
from manager.balancing.bound import lower_bound
from manager.balancing.cost import agent_costs
from manager.balancing.errors import BalancingError
from manager.balancing.low_churn import Churn, settle, subproblem_of
from manager.balancing.problem import Problem, collapse
from tests.manager.balancing.problems import path_tree, problems


def world(seed: int, agents: int = 6, units: int = 800) -> Problem:
    """Return hosts of very different sizes, each near to some agents."""
    rng = np.random.default_rng(seed)
    costs = np.exp(2 * rng.standard_normal(units)) * np.exp(rng.standard_normal((agents, units)))
    names = tuple(f"PRS{i:02}" for i in range(agents))
    return Problem(names, costs, np.full(units, NO_OWNER), path_tree(agents))


def drifted(problem: Problem, owner: np.ndarray[Any, np.dtype[np.intp]], seed: int) -> Problem:
    """Return the next round: every distance another, some units new."""
    rng = np.random.default_rng(seed)
    before = owner.copy()
    before[:10] = NO_OWNER
    costs = problem.costs * np.exp(0.2 * rng.standard_normal(problem.costs.shape))
    return replace(problem, costs=costs, before=before)


@given(problems(), st.floats(0, 1), st.floats(0, 1))
def test_the_limit_holds_unless_the_change_is_great(
    problem: Problem, most_moves: float, worth: float
) -> None:
    """Every atom has one owner that may have it; not more moves than the limit, unless said."""
    atoms = collapse(problem)
    settled = settle(atoms, lower_bound(atoms.costs), Churn(most_moves, worth, 1.5))
    assert np.isfinite(atoms.costs[settled.owner, np.arange(atoms.count)]).all()
    held = atoms.start != NO_OWNER
    moved = atoms.sizes[held & (settled.owner != atoms.start)].sum()
    assert moved == settled.moved
    assert not atoms.fixed[held & (settled.owner != atoms.start)].any()
    if not settled.great:
        assert moved <= most_moves * atoms.sizes[held].sum()


def test_the_first_placement_is_that_of_prices() -> None:
    """When nobody owns anything, prices place it all."""
    problem = world(1)
    assert np.array_equal(make_plan("default", problem).after, make_plan("prices", problem).after)


def test_few_moves_follow_a_drift() -> None:
    """After distances drift, a tenth of the units brings the makespan back near the bound."""
    problem = world(2)
    later = drifted(problem, make_plan("prices", problem).after, 3)
    kept, few, anew = (make_plan(name, later) for name in ("keep", "default", "prices"))
    assert len(few.moves) <= 0.1 * 800 + 10
    assert len(anew.moves) > 2 * len(few.moves)
    assert few.above_bound < 1.15
    assert kept.above_bound > few.above_bound


def test_a_great_change_moves_more() -> None:
    """From a random deal few moves cannot lead near the bound, so more are made, and it is said."""
    problem = world(4)
    dealt = replace(problem, before=make_plan("random", problem).after)
    plan = make_plan("default", dealt)
    assert plan.above_bound < 1.1
    assert any("more than 10% of the units may move" in str(one) for one in plan.explanation)


def test_without_a_limit_of_its_own_nothing_moves() -> None:
    """With no moves allowed, and any makespan good enough, only what has no owner is placed."""
    problem = world(5)
    later = drifted(problem, make_plan("prices", problem).after, 6)
    plan = make_plan("default", later, Options(churn=Churn(0.0, 0.25, np.inf)))
    assert {move.giver for move in plan.moves} == {NO_OWNER}


def test_a_move_that_does_not_pay_is_not_made() -> None:
    """Where moving everything must be worth the whole makespan, nearly nothing is."""
    problem = world(7)
    later = drifted(problem, make_plan("prices", problem).after, 8)
    cheap = make_plan("default", later, Options(churn=Churn(0.5, 0.01, np.inf)))
    dear = make_plan("default", later, Options(churn=Churn(0.5, 1.0, np.inf)))
    assert len(dear.moves) < len(cheap.moves)
    assert dear.makespan_after_ms >= cheap.makespan_after_ms


def test_the_great_stuck_host_moves() -> None:
    """One host larger than all others together, thirty times nearer to a neighbour, goes there."""
    costs = np.array([[3000.0, *[1.0] * 30], [100.0, *[1.0] * 30]])
    problem = Problem(("a", "b"), costs, np.array([0, *[1] * 30]), path_tree(2))
    for name in ("default", "tree", "exchange", "prices", "lp"):
        assert make_plan(name, problem).after[0] == 1


def test_a_part_stands_for_the_whole() -> None:
    """Loads of a part with everything else pinned are those of the whole."""
    problem = world(9)
    owner = make_plan("random", problem).after
    atoms = collapse(replace(problem, before=owner))
    part = subproblem_of(atoms, owner, np.arange(50))
    moved = np.concatenate((np.zeros(50, dtype=np.intp), np.arange(6)))
    whole = part.whole(moved)
    assert np.array_equal(whole[50:], owner[50:])
    assert np.allclose(agent_costs(part.atoms.costs, moved), agent_costs(atoms.costs, whole))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"most_moves": -0.1}, "most_moves = -0.1: must be from 0 to 1"),
        ({"most_moves": 2.0}, "most_moves = 2.0"),
        ({"worth": float("nan")}, "worth = nan"),
        ({"great_change": 0.5}, "great_change = 0.5: must be >= 1"),
    ],
)
def test_wrong_limits_are_refused(wrong: dict[str, Any], said: str) -> None:
    """Each with its range."""
    with pytest.raises(BalancingError, match=said):
        Churn(**wrong)
