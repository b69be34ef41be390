"""Cost is volume times distance, and what is not known is filled and marked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER
from manager.balancing.cost import agent_costs, cost_matrix, makespan
from manager.balancing.errors import BalancingError

NAN, INF = np.nan, np.inf


def test_known_costs_are_products() -> None:
    """Formula (5): KBytes times ms per KByte, with nothing assumed."""
    costs = cost_matrix(np.array([2.0, 10.0]), np.array([[3.0, 1.0], [5.0, 0.5]]))
    assert costs.costs.tolist() == [[6, 10], [10, 5]]
    assert not costs.unreachable.any()


def test_a_gap_takes_the_largest_of_the_unit() -> None:
    """Who has not measured a unit is never thought nearer than who has."""
    costs = cost_matrix(np.array([2.0]), np.array([[3.0], [NAN], [9.0]]))
    assert costs.costs[:, 0].tolist() == [6, 18, 18]


def test_a_unit_that_nobody_measured_takes_each_agents_median() -> None:
    """A new host is as far as hosts usually are from each agent, or from all."""
    distance = np.array([[2.0, 4.0, NAN], [10.0, 30.0, NAN], [NAN, NAN, NAN]])
    costs = cost_matrix(np.ones(3), distance)
    assert costs.costs[:, 2].tolist() == [3, 20, 11.5]


def test_when_nothing_is_known_every_distance_is_1() -> None:
    """Before the first probe costs are the volumes."""
    costs = cost_matrix(np.array([5.0, NAN]), np.full((2, 2), NAN))
    assert costs.costs.tolist() == [[5, 5], [5, 5]]


def test_an_unreachable_pair_is_marked_and_has_a_finite_cost() -> None:
    """Unreachable is not infinite cost: sums stay finite, the mark says what it is."""
    costs = cost_matrix(np.array([1.0, 1.0]), np.array([[INF, INF], [7.0, INF]]))
    assert costs.unreachable.tolist() == [[True, True], [False, True]]
    assert np.isfinite(costs.costs).all()
    assert costs.costs[0, 0] == 7


def test_an_unknown_volume_takes_the_median() -> None:
    """A host whose volume nobody knows yet is a usual host."""
    costs = cost_matrix(np.array([1.0, NAN, 5.0, 100.0]), np.ones((1, 4)))
    assert costs.costs[0].tolist() == [1, 5, 5, 100]


def test_the_floating_type_is_kept() -> None:
    """float32 distances give float32 costs, for fleets whose matrix must fit in memory."""
    distance = np.array([[1.0, NAN], [2.0, INF]], dtype=np.float32)
    assert cost_matrix(np.ones(2), distance).costs.dtype == np.float32


cell = st.one_of(st.just(NAN), st.just(INF), st.floats(0, 1e6))


@given(
    st.integers(1, 5).flatmap(
        lambda agents: st.lists(st.lists(cell, min_size=agents, max_size=agents), max_size=6)
    ),
)
def test_costs_are_finite_and_known_ones_stay(columns: list[list[float]]) -> None:
    """Whatever is missing, all costs are finite, and measured ones are never changed."""
    if not columns:
        return
    distance = np.array(columns).T
    made = cost_matrix(np.ones(len(columns)), distance)
    assert np.isfinite(made.costs).all()
    known = np.isfinite(distance)
    assert np.array_equal(made.costs[known], distance[known])


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same however the units are cut into blocks."""
    rng = np.random.default_rng(3)
    distance = rng.lognormal(size=(4, 50))
    distance[rng.random(distance.shape) < 0.5] = NAN
    whole = cost_matrix(np.ones(50), distance)
    monkeypatch.setattr("manager.balancing.cost._COLUMNS_AT_ONCE", 7)
    cut = cost_matrix(np.ones(50), distance)
    assert np.array_equal(whole.costs, cut.costs)


@pytest.mark.parametrize(
    ("volume", "distance"),
    [
        ([1.0], [[1.0, 1.0]]),
        ([-1.0], [[1.0]]),
        ([INF], [[1.0]]),
        ([1.0], [[-1.0]]),
    ],
)
def test_impossible_numbers_are_refused(volume: list[float], distance: list[list[float]]) -> None:
    """Negative or misshapen input is refused, not computed with."""
    with pytest.raises(BalancingError):
        cost_matrix(np.array(volume), np.array(distance))


def test_agent_costs_and_makespan() -> None:
    """An agent's cost is the sum over what it owns; the makespan says whose it is."""
    costs = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    loads = agent_costs(costs, np.array([0, 1, NO_OWNER]))
    assert loads.tolist() == [1, 16]
    assert makespan(loads) == (16, 1)
    assert agent_costs(costs, np.full(3, NO_OWNER)).tolist() == [0, 0]
