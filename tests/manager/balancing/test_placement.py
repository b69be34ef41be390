"""What has no owner gets one, and nothing else moves."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER
from manager.balancing.forecast.crawl_work import TimeCosts
from manager.balancing.forecast.work_duration import Availability, Capacity
from manager.balancing.placement import place, place_in_time
from manager.balancing.problem import Problem, collapse
from shared.windows import Windows
from tests.manager.balancing.problems import problems


@given(problems())
def test_placed_atoms_stay_and_the_rest_gets_an_owner(problem: Problem) -> None:
    """Every atom has an owner that may have it; whoever had one keeps it."""
    atoms = collapse(problem)
    owner = place(atoms)
    held = atoms.start != NO_OWNER
    assert np.array_equal(owner[held], atoms.start[held])
    assert np.isfinite(atoms.costs[owner, np.arange(atoms.count)]).all()


def test_the_cheapest_agent_below_the_makespan_gets_it() -> None:
    """A new unit goes where it is cheapest among those that it does not push over the makespan."""
    costs = np.array([[50.0, 1], [100, 9], [100, 7]])
    problem = Problem(("a", "b", "c"), costs, np.array([0, NO_OWNER]))
    assert place(collapse(problem)).tolist() == [0, 2]


def test_what_raises_the_makespan_goes_where_it_ends_lowest() -> None:
    """A unit that is too large for every agent goes where the makespan rises least."""
    costs = np.array([[10.0, 30], [99, 35]])
    problem = Problem(("a", "b"), costs, np.array([0, NO_OWNER]))
    assert place(collapse(problem)).tolist() == [0, 1]


def test_a_ceiling_leaves_room_for_the_cheapest() -> None:
    """With a ceiling above the makespan the cheapest agent takes it all the same."""
    costs = np.array([[10.0, 30], [99, 35]])
    problem = Problem(("a", "b"), costs, np.array([0, NO_OWNER]))
    assert place(collapse(problem), ceiling_ms=45).tolist() == [0, 0]


def costs_in_time(
    alone_ms: list[list[float]],
    load_ms: list[list[float]],
    network_ms: list[list[float]],
    *,
    disk_kb: tuple[float, ...] = (),
    agents: tuple[Capacity, ...] = (),
) -> TimeCosts:
    """Return times of agents that are always open, unless told otherwise; atoms of a kilobyte."""
    count, atoms = len(alone_ms), len(alone_ms[0])
    return TimeCosts(
        np.array(alone_ms, dtype=np.float64),
        np.array(load_ms, dtype=np.float64),
        np.array(network_ms, dtype=np.float64),
        np.ones(count),
        np.ones(atoms),
        np.array(disk_kb or (np.inf,) * count),
        [Availability(one, 0) for one in agents or (Capacity(),) * count],
    )


def test_in_time_the_nearest_agent_that_ends_it_by_then_has_it() -> None:
    """The nearest one is busy until later, the next has no disk for it, so the third has it."""
    times = costs_in_time(
        [[10.0], [10], [10], [10]], [[5.0], [5], [5], [5]], [[1.0], [2], [3], [4]],
        disk_kb=(9, 0.5, 9, 9),
    )  # fmt: skip
    assert place_in_time(times, np.array([96.0, 0, 95, 0]), 100).tolist() == [2]
    assert place_in_time(times, np.array([94.0, 0, 0, 0]), 100).tolist() == [0]


def test_in_time_what_ends_late_everywhere_goes_where_it_ends_soonest() -> None:
    """The crawl ends then, so the next atom may end as late."""
    times = costs_in_time([[500.0, 9], [300, 9]], [[1.0, 290], [1, 290]], [[1.0, 1], [9, 9]])
    assert place_in_time(times, np.zeros(2), 100).tolist() == [1, 0]
    assert place_in_time(times, np.array([20.0, 0]), 100).tolist() == [1, 1]


def test_in_time_equal_agents_share_the_work() -> None:
    """What is as near to all goes to the one with most time left."""
    times = costs_in_time([[9.0] * 4] * 2, [[5.0] * 4] * 2, [[10.0] * 4, [10.5] * 4])
    owner = place_in_time(times, np.zeros(2), 100)
    assert sorted(owner.tolist()) == [0, 0, 1, 1]
    busy = place_in_time(times, np.array([50.0, 0]), 100)
    assert busy.tolist() == [1] * 4


def test_in_time_hours_count() -> None:
    """An agent of the night is nearer, but the crawl ends before its hours begin."""
    night = Capacity(hours=Windows(UTC, ((0, 360),), ((0, 360),)))
    times = costs_in_time(
        [[3.6e6], [3.6e6]], [[1.0], [1]], [[1.0], [2]], agents=(night, Capacity())
    )
    hour_ms = 3_600_000.0
    # Times begin at midnight: six hours are open.
    assert place_in_time(times, np.zeros(2), 2 * hour_ms).tolist() == [0]
    assert place_in_time(times, np.array([6 * hour_ms, 0]), 12 * hour_ms).tolist() == [1]
    assert place_in_time(times, np.array([6 * hour_ms, 0]), 26 * hour_ms).tolist() == [0]


@given(problems(), st.floats(0, 1e6), st.lists(st.floats(0, 1e6), min_size=8, max_size=8))
def test_in_time_each_atom_has_an_owner_that_may_have_it(
    problem: Problem, end_ms: float, busy: list[float]
) -> None:
    """Whatever the loads and the end."""
    atoms = collapse(replace(problem, before=np.full_like(problem.before, NO_OWNER)))
    costs = atoms.costs.astype(np.float64)
    count = len(costs)
    times = TimeCosts(
        costs, costs, costs, np.ones(count), np.ones(atoms.count), np.full(count, np.inf),
        [Availability(Capacity(), 0)] * count,
    )  # fmt: skip
    owner = place_in_time(times, np.resize(np.array(busy), count), end_ms)
    assert np.isfinite(costs[owner, np.arange(atoms.count)]).all()
