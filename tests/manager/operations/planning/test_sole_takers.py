"""No probes where no distance could change the plan: one agent alone takes part, or may have a
host."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.operations.fleet.agents import retire
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.bans import ban_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.ownership.pins import pin_unit
from manager.operations.ownership.reassignment import members
from manager.operations.planning.probe_orders import expected_probes
from manager.operations.policy import Policy
from manager.operations.rounds.round_forecast import forecast_of_start
from manager.operations.rounds.rounds import current_round, round_detail, start_round
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario

HOSTS = ("h1.jp", "h2.jp", "h3.jp", "h4.jp")

EVERYBODY_OR_SOME = pytest.mark.parametrize(
    "policy",
    [
        replace(POLICY, control_hosts_per_agent=0),
        replace(POLICY, control_hosts_per_agent=0, max_full_probe_pairs=0, probes_per_host=8),
    ],
    ids=["everybody", "some"],
)


def start(world: World) -> None:
    start_round(world.db, "default", ADMIN, world.now_ms, policy=world.policy)


def probed(world: World, number: int) -> Counter[tuple[str, str]]:
    """Return (host, agent) of the probes that a round ordered."""
    return Counter(
        (name, detail.agents[order.agent_id])
        for name in (*HOSTS, "new.jp")
        if name != "new.jp" or "http://new.jp:80/" in world.address
        for detail in [host_detail(world.db, name)]
        for order in detail.orders
        if order.round == number
    )


def ready(database: Database, *names: str, policy: Policy = POLICY) -> World:
    world = World(database, policy)
    world.join(*names)
    world.hosts(*HOSTS)
    return world


def expected(world: World) -> int:
    """Return how many probes a round that starts now is expected to order."""
    with world.db.read() as tx:
        ids = [row.id for row in members(tx)]
        return sum(expected_probes(tx, ids, world.now_ms, world.policy).values())


def state(world: World) -> str:
    current = current_round(world.db)
    assert current is not None
    return current.state


@EVERYBODY_OR_SOME
def test_a_single_agent_crawls_at_once(database: Database, policy: Policy) -> None:
    """It probes nothing, control hosts neither, and its crawl measures its distances."""
    world = ready(database, "a", policy=policy)
    world.policy = replace(world.policy, control_hosts_per_agent=3)
    assert expected(world) == 0
    forecast = forecast_of_start(database, world.policy, world.now_ms)
    assert forecast.probing_end_ms is None
    start(world)
    assert round_detail(database, 1).orders == {}
    world.tick()
    assert state(world) == "crawling"
    world.run()
    assert round_detail(database, 1).units == {"finished": len(HOSTS)}
    assert {row.kind for name in HOSTS for row in host_detail(database, name).distances} == {
        "crawl"
    }
    assert world.agents["a"].requests == 100 * len(HOSTS)
    assert check(database) == []


def test_what_a_single_agent_finds_it_crawls_without_a_probe(database: Database) -> None:
    """In the same round."""
    world = ready(database, "a")
    start(world)
    world.tick()
    identity = world.agents["a"].identity
    record_discovered(database, identity, [(1, "http://new.jp/", None)], world.now_ms)
    world.run()
    assert round_detail(database, 1).orders == {}
    assert round_detail(database, 1).units == {"finished": len(HOSTS) + 1}


def test_an_agent_that_joins_in_mid_round_probes_what_is_found_then(database: Database) -> None:
    """What the round placed already stays as it is until the next one."""
    world = ready(database, "a")
    start(world)
    world.tick()
    world.join("b")
    world.tick()
    assert round_detail(database, 1).orders == {}
    identity = world.agents["a"].identity
    record_discovered(database, identity, [(1, "http://new.jp/", None)], world.now_ms)
    world.address["http://new.jp:80/"] = ("198.51.100.7",)
    world.run()
    assert probed(world, 1) == {("new.jp", "a"): 1, ("new.jp", "b"): 1}
    assert round_detail(database, 1).units == {"finished": len(HOSTS) + 1}
    assert check(database) == []


@EVERYBODY_OR_SOME
def test_an_agent_that_joins_probes_in_the_next_round(database: Database, policy: Policy) -> None:
    """All that it has not measured; the first one has crawled it and measured its distances."""
    world = ready(database, "a", policy=policy)
    start(world)
    world.run()
    world.join("b")
    start(world)
    assert probed(world, 2) == {(name, "b"): 1 for name in HOSTS}
    world.run()
    assert round_detail(database, 2).orders == {"done": len(HOSTS)}
    assert check(database) == []


def test_an_agent_that_only_enrolled_takes_no_part(database: Database) -> None:
    """Units are given to agents that have called."""
    world = ready(database, "a")
    world.join("p", kind="plain")
    start(world)
    assert round_detail(database, 1).orders == {}


def test_who_is_left_alone_probes_nothing(database: Database) -> None:
    """An agent that was retired before the round takes no part in it."""
    world = ready(database, "a", "b")
    retire(database, "b", ADMIN, world.now_ms)
    assert expected(world) == 0
    start(world)
    assert round_detail(database, 1).orders == {}
    world.agents.pop("b")
    world.run()
    assert round_detail(database, 1).units == {"finished": len(HOSTS)}


def test_an_agent_that_ends_while_probing_holds_no_round(database: Database) -> None:
    """Its probes are given up, and the other one crawls all."""
    world = ready(database, "a", "b")
    start(world)
    world.tick()
    retire(database, "b", ADMIN, world.now_ms)
    world.agents.pop("b")
    world.run()
    assert current_round(database) is None
    assert round_detail(database, 1).orders == {"done": len(HOSTS), "failed": len(HOSTS)}
    assert round_detail(database, 1).units == {"finished": len(HOSTS)}
    assert check(database) == []


@EVERYBODY_OR_SOME
def test_a_host_that_one_agent_alone_may_have_is_not_probed(
    database: Database, policy: Policy
) -> None:
    """It is pinned, or all others are banned from it; of the others two at least probe."""
    world = ready(database, "a", "b", "c", policy=policy)
    pin_unit(database, "h1.jp", "b", "", ADMIN, world.now_ms)
    for name in ("a", "c"):
        ban_host(database, "h2.jp", name, "", ADMIN, world.now_ms)
    ban_host(database, "h3.jp", "a", "", ADMIN, world.now_ms)
    wanted = Counter(
        {("h3.jp", "b"): 1, ("h3.jp", "c"): 1} | {("h4.jp", name): 1 for name in "abc"}
    )
    if policy == replace(POLICY, control_hosts_per_agent=0):
        assert expected(world) == wanted.total()
    start(world)
    assert probed(world, 1) == wanted
    world.run()
    owners = {
        name: detail.agents[detail.owners[-1].agent_id]
        for name in HOSTS
        for detail in [host_detail(database, name)]
    }
    assert (owners["h1.jp"], owners["h2.jp"]) == ("b", "b")
    assert owners["h3.jp"] in "bc"
    assert probed(world, 1) == wanted
    assert round_detail(database, 1).units == {"finished": len(HOSTS)}
    assert check(database) == []


def test_a_pin_speaks_for_all_hosts_of_an_address(database: Database) -> None:
    """They have one owner."""
    world = World(database, replace(POLICY, control_hosts_per_agent=0))
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp", address="198.51.100.9")
    world.hosts("h3.jp", "h4.jp")
    pin_unit(database, "h1.jp", "b", "", ADMIN, world.now_ms)
    start(world)
    assert {host for host, _ in probed(world, 1)} == {"h3.jp", "h4.jp"}


def test_a_pin_to_an_agent_that_is_gone_counts_for_nothing(database: Database) -> None:
    """It does not stand, so any agent may have the host."""
    world = World(database, replace(POLICY, control_hosts_per_agent=0))
    world.join("a", "b", "c")
    world.hosts(*HOSTS)
    pin_unit(database, "h1.jp", "c", "", ADMIN, world.now_ms)
    retire(database, "c", ADMIN, world.now_ms)
    start(world)
    assert {agent for host, agent in probed(world, 1) if host == "h1.jp"} == {"a", "b"}


def test_a_person_may_have_a_single_agent_probe(database: Database) -> None:
    """Its order holds whatever a round would order itself."""
    world = ready(database, "a")
    world.order_probes("h1.jp")
    start(world)
    assert round_detail(database, 1).orders == {"waiting": 1}
    world.run()
    assert round_detail(database, 1).orders == {"done": 1}
