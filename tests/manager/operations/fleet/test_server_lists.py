"""What M1 says, and under which number."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.tables import units
from manager.operations.fleet import server_lists
from manager.operations.fleet.server_lists import current_list
from manager.operations.hosts.bans import ban_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.rounds.rounds import start_round
from shared.wire.orders import Order, orders
from shared.wire.server_list import Comment
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.fleet.test_contact import crawling
from tests.manager.operations.world import ADMIN, World


def listed(world: World, name: str) -> list[Order]:
    """Return the orders of an agent's list."""
    version = current_list(world.db, world.agents[name].identity, world.now_ms, world.policy)
    return [item for item in orders(version.lines) if isinstance(item, Order)]


def test_the_head_says_round_generation_and_lease(database: Database) -> None:
    """A list says what it is before it says what to do."""
    world = crawling(database, "a")
    version = current_list(database, world.agents["a"].identity, world.now_ms, world.policy)
    lines = list(version.lines)
    assert lines[:3] == [
        Comment("Round=1"),
        Comment(f"Generation={version.generation}"),
        Comment("Lease=600"),
    ]
    assert (version.round, version.agent_id) == (1, world.agents["a"].identity.id)


def test_nothing_assigned_is_an_empty_list(database: Database) -> None:
    """An agent without units is sent a head and nothing more."""
    world = World(database)
    world.join("a")
    assert listed(world, "a") == []


def test_a_list_of_many_pages_is_whole(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the tables in pages loses and doubles nothing, with two limits in one list."""
    monkeypatch.setattr(server_lists, "PAGE", 3)
    hosts = tuple(f"h{number:02}.jp" for number in range(20))
    world = World(database)
    world.join("a", "b")
    world.hosts(*hosts[:10])
    for host in hosts[:10]:
        ban_host(database, host, "b", "", ADMIN, world.now_ms)
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    assert len(listed(world, "a")) == 10
    world.hosts(*hosts[10:])
    world.tick()
    named = listed(world, "a")
    assert [order.max_transfer for order in named] == [0] * 10 + [50] * (len(named) - 10)
    assert len(named) > 13
    named += listed(world, "b")
    assert sorted(order.url for order in named) == [f"http://{host}:80/" for host in hosts]


def test_a_list_does_not_change_under_its_number(database: Database) -> None:
    """What is given after a generation was raised waits for the next, in a list read later too."""
    world = crawling(database, "a")
    version = current_list(database, world.agents["a"].identity, world.now_ms, world.policy)
    world.hosts("h2.jp")
    world.wait(5)
    world.tick()
    assert [item.url for item in orders(version.lines) if isinstance(item, Order)] == [
        "http://h1.jp:80/"
    ]
    after = current_list(database, world.agents["a"].identity, world.now_ms, world.policy)
    assert after.generation == version.generation + 1


def test_finished_units_leave_the_next_list(database: Database) -> None:
    """Finishing raises no generation; asking for the list then does, and leaves them out."""
    world = crawling(database, "a", hosts=("h1.jp", "h2.jp"))
    before = world.agents["a"].held
    world.fetch("a", "http://h1.jp:80/")
    assert world.sync("a").generation == before
    assert [order.url for order in listed(world, "a")] == ["http://h2.jp:80/"]
    assert world.take_list("a") == before + 1


def test_start_pages_travel_with_their_unit(database: Database) -> None:
    """A page that somebody else found is sent to who crawls its unit, with its referer."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp", "h2.jp")
    found = [(1, "http://h1.jp/deep/page.html", "http://other.jp/")]
    identity = world.agents["a"].identity
    record_discovered(database, identity, found, world.now_ms, world.policy)
    world.resolve()
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    assert listed(world, "a") == [
        Order("http://h1.jp:80/"),
        Order("http://h1.jp:80/deep/page.html", "http://other.jp/"),
        Order("http://h2.jp:80/"),
    ]


def test_directories_of_others_are_excepted(database: Database) -> None:
    """A unit's line names the directories inside it that the agent has no right to."""
    world = crawling(database, "a")
    host = host_detail(database, "h1.jp").host
    with database.write() as tx:
        tx.execute(
            units.insert(),
            [
                {
                    "host_id": host.id,
                    "path": path,
                    "key": f"http://h1.jp:80{path}",
                    "state": "excluded",
                }
                for path in ("/~koji/", "/z/")
            ],
        )
        assert tx.value(sa.select(sa.func.count()).select_from(units)) == 3
    assert listed(world, "a") == [Order("http://h1.jp:80/", excepted=("/z/", "/~koji/"), share=1)]
