"""The overview of all agents says the same as all that is known of each."""

from __future__ import annotations

from typing import Any

import pytest

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.operations.fleet.agent_summaries import (
    agent_column,
    agent_overviews,
    agents_with_alerts,
)
from manager.operations.fleet.agents import agent_views, list_agents, retire
from tests.manager.operations.fleet.test_contact import crawling
from tests.manager.operations.world import ADMIN, World


def test_an_overview_is_part_of_the_whole(database: Database) -> None:
    """The same agents in the same order, as they are, and why."""
    world = crawling(database, "c")
    world.join("a", kind="plain")
    world.join("b")
    retire(database, "b", ADMIN, world.now_ms)
    views = list_agents(database, world.now_ms, world.policy)
    seen = agent_overviews(database, world.now_ms, world.policy)
    assert [one.row.name for one in seen] == ["a", "c", "b"]
    for one, view in zip(seen, views, strict=True):
        assert (one.row.id, one.row.is_plain) == (view.row.id, view.row.is_plain)
        assert one.liveness.reason == view.liveness.reason
        assert one.liveness.attention == view.liveness.attention
        assert one.units_owned == view.units_owned
    assert agent_column(database, "kind") == {view.row.id: view.row.kind for view in views}


def test_some_agents_come_in_the_order_they_are_asked_for(database: Database) -> None:
    """As in the list of all; numbers that nobody has are left out."""
    world = crawling(database, "a")
    world.join("b")
    first, second = list_agents(database, world.now_ms, world.policy)
    wanted = [second.row.id, 99, first.row.id]
    found = agent_views(database, wanted, world.now_ms, world.policy)
    assert [one.row for one in found] == [second.row, first.row]
    assert [one.units_owned for one in found] == [0, 1]


@pytest.mark.parametrize(
    "trouble",
    [
        {"clone_reason": "sequence 3 came after 7"},
        {"suspect_since_ms": 1},
        {"skew_ms": -61},
        {"skew_ms": 61},
        {"disk_free_bytes": 999},
        {"reports_waiting": 20},
        {"restart_ordered_ms": 1},
        {"command_id": "1", "command": "pause"},
    ],
)
def test_who_has_a_trouble_is_found(database: Database, trouble: dict[str, Any]) -> None:
    """Whatever the trouble is, and nobody else."""
    world = World(database)
    world.join("a")
    world.join("b")
    numbers = {view.row.name: view.row.id for view in list_agents(database, world.now_ms)}
    fine = {"skew_ms": 60, "disk_free_bytes": 1000, "reports_waiting": 19}
    done = {"command_id": "1", "command": "pause", "command_done_ms": 1}
    with database.write() as tx:
        agents.update(tx, numbers["a"], **(fine | done))
        agents.update(tx, numbers["b"], **(fine | trouble))
    found = agents_with_alerts(database, skew_ms=60, disk_bytes=1000, reports=20)
    assert found == {numbers["b"]}
