"""Sick agents, sick hosts and liars: told apart by control hosts, said in words, and bounded."""

from __future__ import annotations

from collections import Counter

import pytest

from manager.db.engine import Database
from manager.operations.fleet.agents import agent_detail
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail, list_hosts
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import start_round
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c", "d", "e")
HOSTS = tuple(f"h{n}.jp" for n in range(15))
DAY_S = 86_400


class _World(World):
    """A world with hosts that are down."""

    down: frozenset[str] = frozenset()

    def fetch(self, name: str, unit: str, kbytes: int = 100) -> None:
        super().fetch(name, unit, 0 if unit in self.down else kbytes)


def prepared(database: Database, odd: str = "", speed: float = 1.0) -> _World:
    """Return a world of five agents, one perhaps odd, before its first round."""
    world = _World(database)
    for name in NAMES:
        world.join(name, speed=speed if name == odd else 1.0)
    world.hosts(*HOSTS)
    return world


def one_round(world: _World) -> None:
    """Let a round of probes and crawls pass."""
    start_round(world.db, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()


def actions(database: Database, action: str) -> list[str]:
    """Return the subjects of an action in the audit."""
    return [row.subject for row in audit_page(database, limit=1000) if row.action == action]


def test_a_sick_agent_is_told_with_reason_and_time_and_is_sound_again(database: Database) -> None:
    """Its control hosts are slow for it and not for others; once, until it is well."""
    world = prepared(database, "c", 100.0)
    one_round(world)
    row = agent_detail(database, "c", world.now_ms, world.policy).view.row
    reason = str(row.suspect_reason)
    assert "its control hosts are" in reason
    assert "times slower than for" in reason
    assert "units its times are" in reason  # other evidence stands beside it
    assert row.suspect_since_ms is not None
    assert row.suspect_since_ms <= world.now_ms
    assert actions(database, "agent.suspect") == ["c"]
    # Ordinary hosts are fresh for a month; the controls are probed again.
    world.agents["c"].speed = 1.0
    world.wait(3 * DAY_S)
    for name in NAMES:
        world.call(name)
    one_round(world)
    row = agent_detail(database, "c", world.now_ms, world.policy).view.row
    assert (row.suspect_since_ms, row.suspect_reason) == (None, None)
    assert actions(database, "agent.clear-suspicion") == ["c"]
    assert actions(database, "agent.suspect") == ["c"]
    assert check(database) == []


def test_a_host_that_is_down_makes_no_agent_suspect(database: Database) -> None:
    """Half of the agents do not reach it: the host is sick, and another becomes control."""
    world = prepared(database)
    start_round(world.db, "prices", ADMIN, world.now_ms, policy=world.policy)
    controls = [
        line.key for line in list_hosts(database).hosts
        if host_detail(database, line.key).units[0].control_ms
    ]  # fmt: skip
    assert len(controls) == world.policy.control_hosts_per_agent
    world.down = frozenset(controls[:1])
    world.run()
    assert actions(database, "host.find-failing") == controls[:1]
    (alert,) = [
        row for row in audit_page(database, limit=1000) if row.action == "host.find-failing"
    ]
    assert alert.alert
    assert "measurement.sick_control_host" in alert.detail
    assert actions(database, "agent.suspect") == []
    assert host_detail(database, controls[0]).units[0].control_ms is None


@pytest.mark.parametrize("speed", [0.0, 1000.0])
def test_a_liar_is_flagged_and_gets_no_more_than_its_share(
    database: Database, speed: float
) -> None:
    """Zero milliseconds buy no hosts; a thousand times too many push few to each of the others."""
    world = prepared(database, "b", speed)
    one_round(world)
    row = agent_detail(database, "b", world.now_ms, world.policy).view.row
    assert row.suspect_since_ms is not None
    assert ("faster" if speed == 0 else "slower") in str(row.suspect_reason)
    assert "b" in actions(database, "agent.suspect")
    owned = Counter(line.owner for line in list_hosts(database).hosts)
    assert owned["b"] <= 2 * len(HOSTS) / len(NAMES)
    assert all(owned[name] <= 2 * len(HOSTS) / len(NAMES) for name in NAMES)
    assert sum(owned.values()) == len(HOSTS)
    assert check(database) == []
