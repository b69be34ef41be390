"""What agents are told of hosts that were withdrawn."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.fleet.sync_facts import sync_facts
from manager.db.hosts import hosts
from manager.db.tables import rights
from manager.operations.hosts.hosts import exclude_host, include_host
from manager.operations.segments.withdrawals import withdrawn_for
from tests.manager.operations.world import ADMIN, World


def give(world: World, agent: str, *names: str) -> None:
    """Let an agent hold hosts."""
    with world.db.write() as tx:
        units = hosts.units_of_hosts(tx, [f"http://{name}:80/" for name in names])
        rows = [
            {
                "unit_id": unit.id,
                "group_id": unit.host_id,
                "agent_id": world.agents[agent].identity.id,
                "kind": "crawl",
                "granted_ms": world.now_ms,
            }
            for unit in units
        ]
        tx.insert(rights, rows)


def told(world: World, agent: str, held: int | None) -> tuple[list[str], int | None]:
    """Return what an agent hears that has heard so far."""
    with world.db.read() as tx:
        return withdrawn_for(tx, world.agents[agent].identity.id, held, sync_facts(tx).withdrawal)


def test_who_had_a_host_hears_that_it_is_withdrawn(database: Database) -> None:
    """Each once, whoever has it now; who never had it learns nothing but the number."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp")
    give(world, "a", "h1.jp", "h2.jp")
    for host in ("h1.jp", "h2.jp"):
        exclude_host(database, host, "asked to", ADMIN, world.now_ms)
    assert told(world, "a", 0) == (["http://h1.jp:80/", "http://h2.jp:80/"], 2)
    assert told(world, "a", 1) == (["http://h2.jp:80/"], 2)
    assert told(world, "a", 2) == ([], 2)
    assert told(world, "b", 0) == ([], 2)
    assert told(world, "a", None) == ([], None), "it cannot drop anything"
    assert told(world, "a", 99)[0] == ["http://h1.jp:80/", "http://h2.jp:80/"], "an older database"
    include_host(database, "h1.jp", ADMIN, world.now_ms)
    assert told(world, "a", 0) == (["http://h2.jp:80/"], 2)
    exclude_host(database, "h1.jp", "again", ADMIN, world.now_ms)
    assert told(world, "a", 2) == (["http://h1.jp:80/"], 3)
    with database.read() as tx:
        assert sync_facts(tx).withdrawal == 3
