"""Probes that could change a plan, in worlds small enough to be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from manager.assignment.probe_value import ValueRules
from manager.balancing.arrays import NO_OWNER
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.work_duration import Capacity
from manager.balancing.problem import Problem
from manager.distance.minimum_spanning_tree import network_distance, spanning_tree
from manager.distance.prediction import Model
from manager.operations.measurement.distance_model import LoadedModel
from manager.operations.planning.balancing_problem import Loaded
from manager.operations.planning.probe_values import TRIED_BY, valuable_pairs

RULES = ValueRules(0.03, 4, 1.0)


def loaded(
    costs: list[list[float]],
    measured: list[list[int]],
    *,
    requests: float = 100.0,
    connections: int = 200,
    unreachable: list[list[int]] | None = None,
    pins: list[int] | None = None,
    forbidden: list[list[int]] | None = None,
) -> Loaded:
    """Return agents 100, 101, ... and units 10, 11, ... with these costs (agents, units) in ms."""
    matrix = np.array(costs, dtype=np.float64)
    agents, units = matrix.shape
    work = Work.of(
        (Capacity(connections=connections, burst=0),) * agents,
        matrix,
        np.full(units, requests),
        np.ones(units),
        np.arange(units),
    )
    problem = Problem(
        names=tuple(f"a{number}" for number in range(agents)),
        costs=matrix,
        before=np.full(units, NO_OWNER),
        pins=None if pins is None else np.array(pins),
        forbidden=None if forbidden is None else np.array(forbidden, dtype=np.bool_),
        unreachable=None if unreachable is None else np.array(unreachable, dtype=np.bool_),
        work=work,
    )
    tree = spanning_tree(network_distance(matrix))
    return Loaded(
        problem,
        tuple(range(100, 100 + agents)),
        np.arange(10, 10 + units),
        tree,
        ~np.array(measured, dtype=np.bool_),
        work,
    )


def pairs_of(
    world: Loaded, *, error: float = 0.1, asked: list[bool] | None = None, pages: int = 50
) -> list[tuple[int, int]]:
    """Return the (unit, agent) that are chosen where predictions are off by so much."""
    agents = len(world.agent_ids)
    model = LoadedModel(
        Model(np.zeros(agents), np.zeros((agents, 1)), error**2), np.ones(agents, dtype=np.bool_)
    )
    all_asked = np.ones(agents, dtype=np.bool_) if asked is None else np.array(asked)
    return valuable_pairs(world, model, RULES, pages, all_asked)


def test_a_near_agent_is_asked_and_a_far_one_is_not() -> None:
    """Agent 1 is predicted at half the cost, agent 2 at ten times of it: it cannot be nearer."""
    world = loaded([[100.0], [50.0], [1000.0]], [[1], [0], [0]])
    assert pairs_of(world) == [(10, 101)]


def test_an_uncertain_prediction_is_worth_a_probe() -> None:
    """The same distance: a sure one saves nothing, one that may be far off does."""
    world = loaded([[100.0], [110.0]], [[1], [0]])
    assert pairs_of(world, error=0.01) == []
    assert pairs_of(world, error=0.5) == [(10, 101)]


def test_a_small_unit_is_not_worth_the_pages_that_a_large_one_is() -> None:
    """The work of unit 10 is a thousandth of that of unit 11; both probes take 50 pages."""
    world = loaded([[1.0, 1000.0], [0.9, 900.0]], [[1, 1], [0, 0]], requests=1000.0)
    assert pairs_of(world) == [(11, 101)]


def test_a_unit_that_a_probe_sees_whole_must_save_what_it_costs() -> None:
    """49 pages and a robots.txt of a probe's 50: a tenth less is not worth the unit once more."""
    costs, measured = [[100.0, 100.0], [90.0, 5.0]], [[1, 1], [0, 0]]
    assert len(pairs_of(loaded(costs, measured, requests=51.0))) == 2
    assert pairs_of(loaded(costs, measured, requests=50.0)) == []
    far = loaded([[100.0, 300.0], [90.0, 5.0]], measured, requests=50.0)
    assert pairs_of(far) == [(11, 101)], "it costs more than its pages do elsewhere"


def test_what_may_not_be_is_not_probed() -> None:
    """Measured, banned and pinned pairs, and agents that are not asked."""
    costs, measured = [[100.0, 100.0], [50.0, 50.0], [50.0, 50.0]], [[1, 1], [0, 0], [0, 0]]
    assert sorted(pairs_of(loaded(costs, measured))) == [
        (u, a) for u in (10, 11) for a in (101, 102)
    ]
    banned = loaded(costs, measured, forbidden=[[0, 0], [1, 0], [0, 0]])
    assert sorted(pairs_of(banned)) == [(10, 102), (11, 101), (11, 102)]
    pinned = loaded(costs, measured, pins=[0, NO_OWNER])
    assert sorted(pairs_of(pinned)) == [(11, 101), (11, 102)]
    assert sorted(pairs_of(loaded(costs, measured), asked=[True, False, True])) == [
        (10, 102),
        (11, 102),
    ]


def test_the_time_of_a_busy_agent_has_its_price() -> None:
    """Where connections are scarce, work is worth moving to an agent that has nothing to do."""
    units = 40
    costs = np.full((2, units), 100.0)
    costs[1] = 130.0
    measured = np.zeros((2, units), dtype=int)
    measured[0] = 1
    measured[1, 0] = 1
    idle = loaded(costs.tolist(), measured.tolist(), connections=200)
    assert pairs_of(idle, error=0.05) == []
    scarce = loaded(costs.tolist(), measured.tolist(), connections=1)
    assert len(pairs_of(scarce, error=0.05)) == units - 1


@pytest.mark.parametrize("tried", range(1, TRIED_BY + 2))
def test_a_unit_that_nobody_reaches_is_given_up_after_some_agents(tried: int) -> None:
    """Five have tried: it is down, or its network closed."""
    agents = TRIED_BY + 3
    found = [[1] if number < tried else [0] for number in range(agents)]
    world = loaded([[100.0]] * agents, found, unreachable=found)
    asked = pairs_of(world)
    assert len(asked) == (0 if tried >= TRIED_BY else min(RULES.most, agents - tried))


def test_of_many_agents_the_most_valuable_are_asked_first() -> None:
    """Four in a step, the nearest first."""
    costs = [[100.0]] + [[float(90 - 5 * number)] for number in range(9)]
    world = loaded(costs, [[1]] + [[0]] * 9)
    assert pairs_of(world) == [(10, agent) for agent in (109, 108, 107, 106)]
