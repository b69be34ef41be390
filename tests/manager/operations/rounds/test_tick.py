"""Whole rounds, from hosts and agents to a finished crawl."""

from __future__ import annotations

from collections import Counter

import pytest

from manager.balancing.balancers import BALANCERS, Options, make_plan
from manager.balancing.errors import BalancingError
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem
from manager.db.engine import Database
from manager.operations.hosts.host_views import host_detail, list_hosts
from manager.operations.planning.plans import list_plans
from manager.operations.rounds.rounds import current_round, list_rounds, round_detail, start_round
from manager.operations.rounds.tick import tick
from tests.manager.operations.world import ADMIN, World, changed_something

pytestmark = pytest.mark.scenario


@pytest.mark.parametrize("method", BALANCERS)
def test_a_round_runs_from_probe_to_makespan(database: Database, method: str) -> None:
    """Every agent probes every host, one at a time; then each host is crawled by its owner."""
    world = World(database)
    world.join("a", "b", "c")
    world.hosts(*(f"h{number}.jp" for number in range(12)))
    assert start_round(database, method, ADMIN, world.now_ms, policy=world.policy) == 1
    world.run()
    assert current_round(database) is None
    detail = round_detail(database, 1)
    assert detail.round.state == "finished"
    assert detail.orders == {"done": 36}
    assert detail.units == {"finished": 12}
    assert detail.round.makespan_ms == max(agent["measured_ms"] for agent in detail.agents)
    assert detail.planned_ms is not None
    assert detail.bound_ms is not None
    assert detail.planned_ms >= detail.bound_ms > 0
    owners = Counter(line.owner for line in list_hosts(database).hosts)
    assert sum(owners.values()) == 12
    assert None not in owners


def test_distances_and_volumes_are_what_was_measured(database: Database) -> None:
    """Distance is ms per KByte of the newest measurement, volume the KBytes of the crawl."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h.jp")
    start_round(database, "prices", ADMIN, world.now_ms)
    world.run()
    detail = host_detail(database, "h.jp")
    unit = detail.units[0]
    assert (unit.volume_kb, unit.pages, unit.volume_round) == (100, 100, 1)
    for distance in detail.distances:
        name = detail.agents[distance.agent_id]
        expected = world.distance(name, unit.key)
        assert distance.ms_per_kb == pytest.approx(expected, rel=0.02)
    near = min(("a", "b"), key=lambda name: world.distance(name, unit.key))
    assert detail.agents[detail.owners[0].agent_id] == near


def test_the_second_round_probes_only_what_is_stale(database: Database) -> None:
    """Fresh distances are used again; a round without missing ones goes straight to the crawl."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp")
    start_round(database, "prices", ADMIN, world.now_ms)
    world.run()
    start_round(database, "tree", ADMIN, world.now_ms)
    world.run()
    second, first = list_rounds(database)
    assert (second.number, second.state, first.state) == (2, "finished", "finished")
    assert round_detail(database, 2).orders == {}
    assert round_detail(database, 2).units == {"finished": 2}


def test_an_idle_tick_changes_nothing(database: Database) -> None:
    """Without anything due a tick does nothing, however many hosts there are."""
    world = World(database)
    world.join("a")
    world.hosts("h.jp")
    world.tick()
    world.wait(5)
    assert not changed_something(world.tick())


def test_a_round_that_its_method_refuses_goes_on_by_default(database: Database) -> None:
    """The linear program has a limit, and hosts come in while a round probes."""

    def planner(method: str, problem: Problem, options: Options) -> Plan:
        if method == "lp":
            raise BalancingError("lp: too many hosts")
        return make_plan(method, problem, options)

    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp")
    start_round(database, "lp", ADMIN, world.now_ms, probe=False)
    assert tick(database, world.now_ms, world.policy, planner).crawl_began
    (plan,) = list_plans(database)
    assert plan.method == "default"
    assert round_detail(database, 1).round.method == "lp"
