"""An agent that comes back gets its units back, where nobody has begun them."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.operations.fleet.contact import subscribe, unsubscribe
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.bans import ban_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.ownership.pins import pin_unit
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import round_detail, start_round
from shared.messages import Message
from tests.manager.operations.planning.test_plans import owners
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

HOSTS = tuple(f"h{number}.jp" for number in range(6))


def lost(database: Database, *, crawling: bool) -> tuple[World, dict[str, str | None]]:
    """Return a world in which `a` has fallen silent and was taken over, and who owned what."""
    world = World(database)
    world.join("a", "b")
    world.hosts(*HOSTS)
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    if not crawling:
        world.run()
    else:
        world.tick()
    before = owners(database)
    assert set(before.values()) == {"a", "b"}
    for _ in range(20):
        world.wait(40)
        world.tick()
        # `b` calls, but takes no list: it is given no right, so it begins nothing new.
        world.sync("b")
    assert set(owners(database).values()) == {"b"}
    return world, before


def back(world: World, name: str = "a") -> None:
    """Let an agent call until it may fetch again."""
    for _ in range(3):
        world.wait(5)
        world.call(name)
        world.tick()


def test_between_rounds_everything_comes_back(database: Database) -> None:
    """Nobody has begun anything: who owned what is as before, and history says why."""
    world, before = lost(database, crawling=False)
    back(world)
    assert owners(database) == before
    ours = next(key for key, owner in before.items() if owner == "a")
    reasons = [row.reason_opened for row in host_detail(database, ours).owners]
    assert reasons[:2] == [Message("ownership.owner_back"), Message("ownership.owner_lost")]
    assert len(audit_page(database, action="agent.give-back")) == 1
    back(world)
    assert len(audit_page(database, action="agent.give-back")) == 1
    assert check(database) == []


def test_what_was_begun_stays(database: Database) -> None:
    """In a round, units that their new owner has the right to fetch, or has fetched, stay there."""
    world, before = lost(database, crawling=True)
    world.call("b")
    world.work("b", most=2)
    world.call("b")
    back(world)
    world.check_exclusive()
    begun = {
        key
        for key, owner in before.items()
        if owner == "a" and any(one.agent_id == 2 for one in host_detail(database, key).rights)
    }
    for key in begun:
        assert owners(database)[key] == "b"
    world.run()
    assert round_detail(database, 1).units == {"finished": 6}
    assert check(database) == []


def test_what_moved_again_or_was_decided_stays(database: Database) -> None:
    """A pin to another agent or a ban keep a unit away; a pin to the agent brings one back."""
    world, before = lost(database, crawling=False)
    ours = [key for key, owner in before.items() if owner == "a"]
    theirs = next(key for key, owner in before.items() if owner == "b")
    pin_unit(database, ours[0], "b", "", ADMIN, world.now_ms)
    pin_unit(database, theirs, "a", "", ADMIN, world.now_ms)
    if len(ours) > 1:
        ban_host(database, ours[1], "a", "", ADMIN, world.now_ms)
    back(world)
    after = owners(database)
    assert after[ours[0]] == "b"
    assert after[theirs] == "a"
    for key in ours[1:2]:
        assert after[key] == "b"
    for key in ours[2:]:
        assert after[key] == "a"
    assert check(database) == []


def test_who_left_and_comes_back_gets_its_units(database: Database) -> None:
    """Leaving by its own word is no different, once it may fetch again."""
    world = World(database)
    world.join("a", "b")
    world.hosts(*HOSTS)
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    before = owners(database)
    unsubscribe(database, world.agents["a"].identity, world.now_ms)
    world.tick()
    assert set(owners(database).values()) == {"b"}
    world.tick()
    assert set(owners(database).values()) == {"b"}
    subscribe(database, world.agents["a"].identity, world.now_ms)
    back(world)
    assert owners(database) == before
