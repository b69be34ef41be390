"""Pins that are ignored, and hosts that nobody may have, are found and said."""

from __future__ import annotations

from manager.db.engine import Database
from manager.operations.fleet.agents import retire
from manager.operations.hosts.bans import ban_host
from manager.operations.ownership.pin_rules import ineffective_rules_of
from manager.operations.ownership.pins import pin_unit
from manager.operations.rounds.rounds import start_round
from shared.messages import Message
from tests.manager.operations.kept_worlds import kept_world
from tests.manager.operations.world import ADMIN, World


def test_what_holds_is_not_mentioned(database: Database) -> None:
    """A pin that stands, and a ban that leaves somebody."""
    world = crawled(database)
    assert ineffective_rules_of(database) == []
    pin_unit(database, "h1.jp", "a", "agreed", ADMIN, world.now_ms)
    ban_host(database, "h2.jp", "a", "asked for", ADMIN, world.now_ms)
    assert ineffective_rules_of(database) == []


def test_a_pin_of_an_agent_that_is_gone_is_said(database: Database) -> None:
    """Until it comes back; and a host that the others never get waits."""
    world = crawled(database)
    pin_unit(database, "h1.jp", "a", "agreed", ADMIN, world.now_ms)
    ban_host(database, "h2.jp", "b", "asked for", ADMIN, world.now_ms)
    retire(database, "a", ADMIN, world.now_ms)
    pinned, waits = ineffective_rules_of(database)
    assert pinned.host == "http://h1.jp:80/"
    assert pinned.what == Message("ownership.pin_ignored", unit="http://h1.jp:80/", agent="a")
    assert pinned.why == Message("ownership.agent_retired", agent="a")
    assert (waits.host, waits.what) == ("http://h2.jp:80/", Message("ownership.waits"))


@kept_world
def crawled(database: Database) -> World:
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp", "h3.jp")
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    return world
