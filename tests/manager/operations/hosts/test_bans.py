"""Bans: a host that an agent never owns, never probes and never fetches."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.contact import unsubscribe
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.bans import ban_host, lift_ban, list_bans
from manager.operations.hosts.host_views import host_detail
from manager.operations.ownership.pins import list_pins, pin_unit
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plan_application import apply_plan
from manager.operations.planning.plans import make_plan, plan_detail
from manager.operations.policy import Policy
from manager.operations.rounds.rounds import round_detail, start_round
from shared.messages import Message
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.planning.test_plans import measured, owners
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

H1 = "http://h1.jp:80/"


def test_a_banned_agent_loses_the_host_and_never_gets_it(database: Database) -> None:
    """At once, and in the plans of all methods; lifted, it may have it again."""
    world = measured(database)
    owner = owners(database)[H1]
    assert owner is not None
    assert ban_host(database, "h1.jp", owner, "they block it", ADMIN, world.now_ms) == 1
    for method in ("keep", "random", "tree", "prices"):
        for seed in range(3):
            plan_id = make_plan(database, method, ADMIN, world.now_ms, seed=seed)
            apply_plan(database, plan_id, ADMIN, world.now_ms)
            assert owners(database)[H1] not in (owner, None)
    (ban,) = list_bans(database)
    assert (ban.host, ban.agent, ban.reason) == (H1, owner, "they block it")
    assert host_detail(database, "h1.jp").bans == [ban]
    assert audit_page(database, action="host.ban")[0].subject == H1
    assert lift_ban(database, "h1.jp", owner, ADMIN, world.now_ms)
    assert not lift_ban(database, "h1.jp", owner, ADMIN, world.now_ms)
    assert list_bans(database) == []
    pin_unit(database, "h1.jp", owner, "", ADMIN, world.now_ms)
    assert owners(database)[H1] == owner
    assert check(database) == []


@pytest.mark.parametrize("pairs", [2_000_000, 0])
def test_a_banned_agent_does_not_probe(database: Database, pairs: int) -> None:
    """Neither when everybody probes everything nor when some do; nor what is found later."""
    world = World(database, Policy(max_full_probe_pairs=pairs, permit_s=600, log_timeout_s=20))
    world.join("a", "b", "c")
    world.hosts("h1.jp", "h2.jp")
    ban_host(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    assert {order.agent_id for order in host_detail(database, "h1.jp").orders} == {2, 3}
    world.tick()
    world.run()
    measured = host_detail(database, "h1.jp").distances
    assert {row.agent_id for row in measured if row.state != "predicted"} == {2, 3}
    assert owners(database)[H1] in ("b", "c")
    assert round_detail(database, 1).round.state == "finished"


def test_a_ban_in_a_round_ends_the_probe(database: Database) -> None:
    """What was ordered is given up, what is under way is withdrawn, and the round goes on."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp")
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    for name in "ab":
        world.call(name)
    prober = next(name for name in "ab" if world.agents[name].fetchable(world.true_ms))
    ban_host(database, "h1.jp", prober, "", ADMIN, world.now_ms)
    world.tick()
    world.call(prober)
    assert world.agents[prober].fetchable(world.true_ms) == {}
    world.run()
    assert owners(database)[H1] == ("b" if prober == "a" else "a")
    assert round_detail(database, 1).units == {"finished": 1}
    assert check(database) == []


def test_a_ban_holds_for_the_whole_address(database: Database) -> None:
    """What shares the address goes along, also when that turns out later."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp")
    world.hosts("h2.jp")
    ban_host(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    pin_unit(database, "h2.jp", "a", "", ADMIN, world.now_ms)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False)
    world.tick()
    assert owners(database) == {H1: "b", "http://h2.jp:80/": "a"}
    world.call("b")
    world.agents["b"].sees = {H1: world.address["http://h2.jp:80/"]}
    world.sync("b")
    assert set(owners(database).values()) == {"b"}
    assert list_pins(database).pins[0].ignored == Message("ownership.pin_of_banned", agent="a")
    world.run()
    assert round_detail(database, 1).round.state == "finished"
    assert check(database) == []


def test_a_host_that_nobody_here_may_have_waits(database: Database) -> None:
    """It holds up no plan and no round; when an agent that may have it is there, it is placed."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp")
    ban_host(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    unsubscribe(database, world.agents["b"].identity, world.now_ms)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    record_discovered(
        database, world.agents["a"].identity, [(1, "http://new.jp/", None)], world.now_ms
    )
    world.run()
    detail = round_detail(database, 1)
    assert detail.round.state == "finished"
    assert detail.units == {"finished": 2}
    assert owners(database)[H1] is None
    assert detail.round.plan_id is not None
    said = plan_detail(database, detail.round.plan_id).explanation
    assert Message("planning.units_stay", units=1) in said
    world.join("c")
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert owners(database)[H1] == "c"
    assert check(database) == []


def test_bans_that_cannot_be_are_refused(database: Database) -> None:
    """A pinned host, the last agent, unknown names."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp", address="203.0.113.5")
    pin_unit(database, "h2.jp", "a", "", ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match=r"h2.jp:80/ is pinned to a; http://h1.jp:80/ shares"):
        ban_host(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    ban_host(database, "h1.jp", "b", "", ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match=r"never gets http://h2.jp:80/ or what shares"):
        pin_unit(database, "h2.jp", "b", "", ADMIN, world.now_ms)
    world.hosts("h3.jp")
    ban_host(database, "h3.jp", "b", "", ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match=r"no agent but a may have http://h3.jp:80/"):
        ban_host(database, "h3.jp", "a", "", ADMIN, world.now_ms)
    with pytest.raises(NotFoundError):
        ban_host(database, "h9.jp", "a", "", ADMIN, world.now_ms)
    with pytest.raises(NotFoundError):
        lift_ban(database, "h3.jp", "z", ADMIN, world.now_ms)
