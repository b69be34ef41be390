"""The bound lies below every assignment, and near the best."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from manager.balancing import bound as bound_module
from manager.balancing.bound import lower_bound, priced_choice
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.problem import Problem, collapse
from tests.manager.balancing.problems import problems


@settings(max_examples=60)
@given(problems(largest=5))
def test_no_assignment_is_below_the_bound(problem: Problem) -> None:
    """Compared with every possible assignment of a small problem."""
    atoms = collapse(problem)
    bound = lower_bound(atoms.costs)
    best = min(
        makespan(agent_costs(atoms.costs, np.array(owner, dtype=np.intp)))[0]
        for owner in product(range(atoms.agents), repeat=atoms.count)
    )
    assert bound.makespan_ms <= best * (1 + 1e-9)
    assert np.isfinite(bound.prices).all()
    assert (bound.prices > 0).all()


def test_many_even_units_reach_the_mean() -> None:
    """With many small units the bound is what dividing them would give."""
    bound = lower_bound(np.ones((4, 1000)))
    assert bound.makespan_ms == pytest.approx(250)


def test_a_slow_agent_counts_little() -> None:
    """Two agents, one ten times slower: the bound is the harmonic share."""
    costs = np.vstack([np.ones(1000), np.full(1000, 10.0)])
    assert lower_bound(costs).makespan_ms == pytest.approx(1000 * 10 / 11, rel=2e-3)


def test_one_long_unit_is_a_bound() -> None:
    """Nothing ends before the longest unit where it is shortest."""
    costs = np.ones((3, 5))
    costs[:, 2] = [500, 400, 900]
    assert lower_bound(costs).makespan_ms == 400


def test_a_pair_longer_than_the_makespan_proves_nothing() -> None:
    """Cutting one long unit in two would help; the bound knows that it cannot be cut.

    The relaxation alone would give half of it to each agent and stop below 100.
    """
    costs = np.array([[100.0, 1.0], [100.0, 1.0]])
    assert lower_bound(costs).makespan_ms == 100


@pytest.mark.parametrize("shape", [(1, 0), (3, 0)])
def test_no_unit_no_cost(shape: tuple[int, int]) -> None:
    """Without units the bound is 0."""
    assert lower_bound(np.empty(shape)).makespan_ms == 0


def test_free_units_cost_nothing() -> None:
    """Units of no volume give a bound of 0 and usable prices."""
    bound = lower_bound(np.zeros((3, 10)))
    assert bound.makespan_ms == 0
    assert bound.prices.tolist() == [1, 1, 1]


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """The priced choice is the same however the atoms are cut into blocks."""
    costs = np.random.default_rng(1).lognormal(size=(5, 101))
    prices = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    choice, cheapest = priced_choice(costs, prices)
    monkeypatch.setattr("manager.balancing.bound._CELLS_AT_ONCE", 40)
    cut_choice, cut_cheapest = priced_choice(costs, prices)
    assert np.array_equal(choice, cut_choice)
    assert np.array_equal(cheapest, cut_cheapest)
    assert np.array_equal(choice, (costs * prices[:, None]).argmin(axis=0))


@settings(max_examples=60)
@given(problems(largest=5))
def test_a_wide_matrix_has_no_bound_above_any_assignment(problem: Problem) -> None:
    """Where only all pairs are looked at, no assignment is below the bound either."""
    atoms = collapse(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound_module, "_WIDE", 0)
        bound = lower_bound(atoms.costs)
    best = min(
        makespan(agent_costs(atoms.costs, np.array(owner, dtype=np.intp)))[0]
        for owner in product(range(atoms.agents), repeat=atoms.count)
    )
    assert bound.makespan_ms <= best * (1 + 1e-9)
    assert (bound.prices > 0).all()


def test_a_wide_matrix_has_nearly_the_same_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among many agents and hosts nobody is large: both searches find the same."""
    rng = np.random.default_rng(3)
    costs = np.exp(rng.standard_normal(4000)) * np.exp(rng.standard_normal((40, 4000)))
    whole = lower_bound(costs)
    monkeypatch.setattr(bound_module, "_WIDE", 0)
    assert lower_bound(costs).makespan_ms == pytest.approx(whole.makespan_ms, rel=5e-3)
