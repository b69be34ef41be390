"""No unit moves on a prediction: what could change the plan is probed first, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from manager.balancing.forecast.work_duration import Capacity
from manager.db.engine import Database
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.more_probes import _asked
from manager.operations.rounds.rounds import round_detail, start_round
from shared.windows import Windows
from tests.manager.operations.kept_worlds import kept_world
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c", "d", "e", "f")
HOSTS = tuple(f"h{n}.jp" for n in range(24))


@kept_world
def partly_probed(database: Database) -> World:
    """Return a world of six agents, each host probed by two; one agent is much the fastest."""
    world = World(database, replace(POLICY, max_full_probe_pairs=10, probes_per_host=2))
    for number, name in enumerate(NAMES):
        world.join(name, speed=1.0 if number else 0.2)
    world.hosts(*HOSTS)
    return world


@pytest.mark.parametrize("method", ["tree", "prices"])
def test_a_unit_goes_only_to_an_agent_that_measured_it(database: Database, method: str) -> None:
    """Agents that may be nearer probe it in further steps; then it is planned."""
    world = partly_probed(database)
    began_ms = world.now_ms
    start_round(database, method, ADMIN, began_ms, policy=world.policy)
    world.run()
    steps = [row for row in audit_page(database) if row.action == "round.order-probes"]
    assert 1 <= len(steps) <= world.policy.probe_steps
    assert all('"orders": ' in step.detail for step in steps)
    assert round_detail(database, 1).orders["done"] > 2 * len(HOSTS)
    later = 0
    for name in HOSTS:
        detail = host_detail(database, name)
        owner = detail.owners[0].agent_id
        measured = {row.agent_id for row in detail.distances if row.state == "measured"}
        assert owner in measured
        later += any(
            order.agent_id == owner and order.ordered_ms > began_ms for order in detail.orders
        )
    assert later >= 3, "who was predicted to be near probed it, and got it"
    assert check(database) == []


def test_predictions_are_marked_where_they_are_shown(database: Database) -> None:
    """A distance that nobody measured says so, with how far it may be off."""
    world = partly_probed(database)
    world.policy = replace(world.policy, probe_steps=0)
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    detail = host_detail(database, "h1.jp")
    kinds = {row.kind for row in detail.distances}
    assert kinds == {"probe", "crawl", "prediction"} or kinds == {"crawl", "prediction"}
    for row in detail.distances:
        assert (row.state == "predicted") == (row.kind == "prediction")
        if row.kind == "prediction":
            assert row.ms_per_kb is not None
            assert row.ms_per_kb > 0
            assert row.off_by is not None
            assert row.off_by > 1
            assert row.measured_ms is None
            assert "predicted, not measured" in str(row.reason)
        else:
            assert row.expected_ms_per_kb is not None
    assert len({row.agent_id for row in detail.distances}) == len(NAMES)


def test_a_round_without_probes_moves_nothing_on_a_prediction(database: Database) -> None:
    """Nobody is asked to probe; who never measured a unit is not given it."""
    world = partly_probed(database)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    world.join("late", speed=0.001)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy, probe=False)
    world.run()
    assert round_detail(database, 2).orders == {}
    for name in HOSTS:
        detail = host_detail(database, name)
        (owner,) = [row.agent_id for row in detail.owners if row.until_ms is None]
        assert detail.agents[owner] != "late"


def test_a_random_deal_asks_no_distance(database: Database) -> None:
    """It verifies nothing, and deals to agents that measured nothing as well."""
    world = partly_probed(database)
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert [row for row in audit_page(database) if row.action == "round.order-probes"] == []
    unmeasured = 0
    for name in HOSTS:
        detail = host_detail(database, name)
        probed = {order.agent_id for order in detail.orders}
        unmeasured += detail.owners[0].agent_id not in probed
    assert unmeasured > 0


def test_a_later_step_waits_for_nobody_who_is_away() -> None:
    """The first asks all agents; those after it no plain one, and none outside its hours."""
    night = Capacity(hours=Windows(UTC, ((120, 480),), ((120, 480),)))
    noon_ms = round(datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp() * 1000)
    three_ms = noon_ms - 9 * 3_600_000
    agents = ([False, True, False], (Capacity(), Capacity(), night))
    assert _asked(*agents, 0, noon_ms).tolist() == [True, True, True]
    assert _asked(*agents, 1, noon_ms).tolist() == [True, False, False]
    assert _asked(*agents, 1, three_ms).tolist() == [True, False, True]
