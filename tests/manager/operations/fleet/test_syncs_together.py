"""What agents say in one transaction is taken together, each as far as it is its own."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.ownership.rights import FINISHED
from manager.db.tables import agents, holdings, rights, unit_rounds, units
from manager.errors import PrsmError
from manager.operations.fleet.sync import Asked, sync_all
from manager.operations.rounds.rounds import start_round
from tests.manager.operations.world import ADMIN, World

HOSTS = tuple(f"h{number}.jp" for number in range(6))


def crawling(database: Database) -> World:
    """Return a world in which both agents hold units of a crawl that they have not begun."""
    world = World(database)
    world.join("a", "b")
    world.hosts(*HOSTS)
    world.resolve()
    start_round(world.db, "random", ADMIN, world.now_ms, policy=world.policy)
    for _ in range(20):
        world.wait(world.policy.tick_s)
        world.tick()
        for name in world.agents:
            world.call(name)
        held = [agent.fetchable(world.true_ms) for agent in world.agents.values()]
        if all(own and not any(work.max_transfer for work in own.values()) for own in held):
            return world
        for name in world.agents:
            world.work(name)
            world.call(name)
    raise AssertionError("no crawl began")


def test_claims_of_one_transaction_count_each_for_its_own_agent(database: Database) -> None:
    """Two agents finish units, one of them claims the other's too: that one counts for nothing."""
    world = crawling(database)
    a, b = (world.agents[name] for name in "ab")
    own = {agent.name: sorted(agent.fetchable(world.true_ms)) for agent in (a, b)}
    for agent in (a, b):
        world.fetch(agent.name, own[agent.name][0])
    theirs = own[b.name][0]
    stolen = b.claims[theirs, "crawl", b.unanswered[0].round]
    requests = [world.request("a"), world.request("b")]
    requests[0] = replace(
        requests[0], finished=(*requests[0].finished, replace(stolen, pages=9999))
    )
    outcomes = sync_all(
        world.db,
        [Asked(a.identity, requests[0]), Asked(b.identity, requests[1])],
        world.now_ms,
        world.policy,
    )
    assert not [one for one in outcomes if isinstance(one, PrsmError)]
    with world.db.read() as tx:
        finished = tx.execute(
            sa.select(units.c.key, unit_rounds.c.agent_id, unit_rounds.c.pages)
            .join(unit_rounds, unit_rounds.c.unit_id == units.c.id)
            .where(unit_rounds.c.state == "finished")
        ).all()
        assert sorted(map(tuple, finished)) == sorted(
            [(own[a.name][0], a.identity.id, 100), (theirs, b.identity.id, 100)]
        )
        ended = tx.execute(
            sa.select(units.c.key, holdings.c.agent_id)
            .join(holdings, holdings.c.unit_id == units.c.id)
            .where(holdings.c.reason == FINISHED, holdings.c.kind == "crawl")
        ).all()
        assert {tuple(row) for row in ended} == {
            (own[a.name][0], a.identity.id),
            (theirs, b.identity.id),
        }
        left = tx.values(sa.select(units.c.key).join(rights, rights.c.unit_id == units.c.id))
        assert sorted(left) == sorted([*own[a.name][1:], *own[b.name][1:]])
        assert tx.values(sa.select(agents.c.list_outrun)) == [True, True]
