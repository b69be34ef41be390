"""The earliest end: its bound, the network cost, and the moves."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER, IntArray, Matrix
from manager.balancing.balancers import Options, compare, make_plan, prospects
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.work_duration import Capacity
from manager.balancing.low_churn import Churn
from manager.balancing.plan import Plan, PlanTime
from manager.balancing.problem import Problem
from shared.windows import Windows

HOUR_MS = 3_600_000.0
QUICK = Capacity(burst=0)


def problem(
    costs: Matrix,
    capacities: tuple[Capacity, ...],
    *,
    requests: float = 1.0,
    before: IntArray | None = None,
    pins: IntArray | None = None,
) -> Problem:
    agents, units = costs.shape
    work = Work.of(
        capacities, costs, np.full(units, requests), np.ones(units), np.arange(units), start_ms=0
    )
    nobody = np.full(units, NO_OWNER, dtype=np.intp)
    names = tuple(f"a{number}" for number in range(agents))
    return Problem(names, costs, nobody if before is None else before, pins=pins, work=work)


def timed(plan: Plan) -> PlanTime:
    assert plan.time is not None
    return plan.time


def test_where_waiting_decides_each_unit_goes_to_its_nearest() -> None:
    """All end with the longest host whoever has it: so bytes take the shortest way."""
    costs = np.array([[1.0, 1.0, 1.0, 9.0], [5.0, 5.0, 5.0, 1.0]])
    plan = make_plan("default", problem(costs, (Capacity(), Capacity()), requests=10))
    assert plan.after.tolist() == [0, 0, 0, 1]
    assert timed(plan).above_bound == pytest.approx(1, abs=1e-3)
    assert timed(plan).network_after_ms == 4


def test_where_connections_decide_the_load_is_even() -> None:
    """One connection each: the nearest agent has no room for all."""
    costs = np.array([[10.0] * 100, [20.0] * 100])
    one = replace(QUICK, connections=1)
    plan = make_plan("default", problem(costs, (one, one)))
    assert timed(plan).above_bound <= 1.03
    assert 60 <= plan.units_after[0] <= 70
    transfer = make_plan("default", problem(costs, (one, one)), Options(objective="transfer"))
    assert transfer.makespan_after_ms / transfer.bound_ms <= 1.03


def test_an_agent_of_few_hours_gets_what_it_ends_in_time() -> None:
    """Six hours a night, from midnight on, beside a whole day."""
    night = Windows(UTC, ((0, 360),), ((0, 360),))
    one = replace(QUICK, connections=1)
    costs = np.full((2, 60), HOUR_MS)
    plan = make_plan("default", problem(costs, (one, replace(one, hours=night))))
    assert timed(plan).above_bound <= 1.05
    # In 46 hours the one works 46 and the other two nights.
    assert plan.units_after.tolist() == [48, 12]


def test_a_move_must_gain_more_than_the_prediction_may_be_wrong_by() -> None:
    """A tenth nearer is no reason to move, three times nearer is."""
    costs = np.array([[100.0, 100.0], [90.0, 30.0]])
    before = np.array([0, 0])
    given_problem = problem(costs, (Capacity(), Capacity()), before=before)
    plan = make_plan("default", given_problem, Options(churn=Churn(most_moves=1)))
    assert plan.after.tolist() == [0, 1]


def test_no_more_moves_than_allowed_but_after_a_random_deal() -> None:
    """A tenth of the units, those that gain most; all that help where the end is far away."""
    rng = np.random.default_rng(1)
    costs = rng.lognormal(3, 1, (3, 200))
    before = rng.integers(0, 3, 200)
    plan = make_plan("default", problem(costs, (Capacity(),) * 3, before=before))
    assert 0 < len(plan.moves) <= 20
    one = replace(QUICK, connections=1)
    costs[0] *= 50
    plan = make_plan("default", problem(costs, (one,) * 3, before=before))
    assert len(plan.moves) > 20
    assert timed(plan).above_bound < 1.05


def test_every_method_shows_both_figures() -> None:
    """The end and the network cost, beside the makespan of the transfer."""
    costs = np.array([[1.0, 2.0], [2.0, 1.0]])
    given_problem = problem(costs, (Capacity(), Capacity()))
    for found in prospects(["tree", "random", "keep", "prices", "default"], given_problem):
        assert found.makespan_ms is not None
        assert found.end_ms is not None
        assert found.network_ms is not None
    plain = replace(given_problem, work=None)
    assert make_plan("default", plain).time is None


@settings(max_examples=15, deadline=None)
@given(
    st.integers(1, 4),
    st.integers(1, 30),
    st.integers(0, 10_000),
    st.sampled_from([0, 1, 4]),
    st.integers(1, 3),
    st.booleans(),
)
def test_no_plan_ends_before_the_bound(
    agents: int, units: int, seed: int, burst: int, connections: int, held: bool
) -> None:
    """Whatever the method; and each unit has an owner that may have it."""
    rng = np.random.default_rng(seed)
    costs = rng.lognormal(6, 1.5, (agents, units))
    night = Windows(UTC, ((0, 3),), ((0, 3),))
    capacities = tuple(
        Capacity(
            connections=connections,
            interval_ms=float(rng.choice([0, 500, 5000])),
            burst=burst,
            bytes_per_s=int(rng.choice([0, 1000])),
            hours=night if number and rng.random() < 0.3 else Windows(UTC),
        )
        for number in range(agents)
    )
    before = rng.integers(0, agents, units) if held else None
    pins = np.full(units, NO_OWNER, dtype=np.intp)
    pins[0] = agents - 1
    given_problem = problem(costs, capacities, requests=7, before=before, pins=pins)
    for plan in compare(("default", "keep", "random", "prices"), given_problem).values():
        assert plan.after.min() >= 0
        assert plan.after[0] == agents - 1
        assert timed(plan).end_after_ms >= timed(plan).bound_ms * (1 - 1e-3)
