"""Prices place near the bound, within the rules; easing never makes it worse."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.bound import lower_bound
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.load_transfer import ease_busiest
from manager.balancing.placement import place
from manager.balancing.prices import assign_by_prices
from manager.balancing.problem import Problem, collapse
from tests.manager.balancing.problems import problems


@given(problems())
def test_every_rule_is_kept(problem: Problem) -> None:
    """Each atom has one owner that may have it, and pinned ones are with their agent."""
    atoms = collapse(problem)
    owner = assign_by_prices(atoms, lower_bound(atoms.costs)).owner
    assert owner.shape == (atoms.count,)
    assert np.isfinite(atoms.costs[owner, np.arange(atoms.count)]).all()
    assert np.array_equal(owner[atoms.fixed], atoms.start[atoms.fixed])


def test_many_units_come_within_two_per_cent() -> None:
    """With thousands of units of every size the plan is at most 2% above the bound."""
    rng = np.random.default_rng(5)
    costs = rng.lognormal(sigma=1.0, size=(12, 3000)) * rng.lognormal(sigma=1.0, size=(12, 1))
    atoms = collapse(Problem(tuple("abcdefghijkl"), costs, np.full(3000, -1)))
    bound = lower_bound(costs)
    reached, _ = makespan(agent_costs(costs, assign_by_prices(atoms, bound).owner))
    assert reached <= 1.02 * bound.makespan_ms


def test_one_agent_gets_everything() -> None:
    """There is no second choice to regret."""
    costs = np.array([[3.0, 1.0, 2.0]])
    atoms = collapse(Problem(("a",), costs, np.full(3, -1)))
    assert assign_by_prices(atoms, lower_bound(costs)).owner.tolist() == [0, 0, 0]


def test_a_long_unit_goes_where_it_is_shortest() -> None:
    """What one agent alone can do in time is placed first."""
    costs = np.array([[1000.0] + [1.0] * 50, [60.0] + [1.0] * 50])
    atoms = collapse(Problem(("a", "b"), costs, np.full(51, -1)))
    owner = assign_by_prices(atoms, lower_bound(costs)).owner
    assert owner[0] == 1
    assert makespan(agent_costs(costs, owner))[0] <= 60


@given(problems(), st.integers(0, 20))
def test_easing_never_raises_the_makespan(problem: Problem, most: int) -> None:
    """Whatever it moves, the greatest cost does not rise, and fixed atoms stay."""
    atoms = collapse(problem)
    owner = place(atoms)
    eased = ease_busiest(atoms, owner, enough_ms=0.0, most_moves=most)
    before, _ = makespan(agent_costs(atoms.costs, owner))
    after, _ = makespan(agent_costs(atoms.costs, eased))
    assert after <= before * (1 + 1e-9)
    assert np.array_equal(eased[atoms.fixed], owner[atoms.fixed])
    assert int((eased != owner).sum()) <= most


def test_easing_stops_at_enough() -> None:
    """Where the makespan is good enough nothing more is moved."""
    atoms = collapse(Problem(("a", "b"), np.ones((2, 10)), np.zeros(10, dtype=np.intp)))
    eased = ease_busiest(atoms, atoms.start, enough_ms=8.0, most_moves=99)
    assert np.bincount(eased).tolist() == [8, 2]
