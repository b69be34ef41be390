"""What a round orders to be probed: within budgets, nothing that is fresh, controls each day."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.hosts.hosts import ids_of_units
from manager.db.planning.missing_probes import ordered_since
from manager.operations.hosts.host_views import host_detail
from manager.operations.ownership.reassignment import members
from manager.operations.planning.balancing_problem import load_all, load_some
from manager.operations.rounds.rounds import round_detail, start_round
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c", "d", "e", "f")
HOSTS = tuple(f"h{n}.jp" for n in range(30))


def ordered(world: World) -> Counter[tuple[str, str]]:
    """Return (host, agent) of all probes that were ordered."""
    return Counter(
        (name, detail.agents[order.agent_id])
        for name in HOSTS
        for detail in [host_detail(world.db, name)]
        for order in detail.orders
    )


def begun(database: Database, **changes: float) -> World:
    """Return a world whose first round was just started."""
    policy = replace(POLICY, **changes)  # type: ignore[arg-type]  # names and types are the tests'
    world = World(database, policy)
    world.join(*NAMES)
    world.hosts(*HOSTS)
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    return world


def test_a_small_fleet_probes_everything(database: Database) -> None:
    """And no pair twice, the control hosts included."""
    pairs = ordered(begun(database))
    assert len(pairs) == len(HOSTS) * len(NAMES)
    assert set(pairs.values()) == {1}


def test_budgets_of_agents_and_hosts_hold(database: Database) -> None:
    """500 pages a day are ten hosts an agent; a host bears four agents a day."""
    world = begun(database, probe_pages_per_day=500, probes_per_host_per_day=4)
    pairs = ordered(world)
    of_agent = Counter(agent for _, agent in pairs)
    of_host = Counter(host for host, _ in pairs)
    controls = {
        name for name in HOSTS if host_detail(database, name).units[0].control_ms is not None
    }
    # 6 agents times 3 control hosts, and 4 agents for each: 5 control hosts.
    assert len(controls) == 5
    assert all(count <= 10 for count in of_agent.values())
    assert all(count <= 5 + 4 * (host in controls) for host, count in of_host.items())
    with database.read() as tx:
        assert sum(ordered_since(tx, list(range(1, 7)), 0).values()) == len(pairs)


def test_the_largest_hosts_are_probed_by_everybody(database: Database) -> None:
    """Half of the bytes hang on them; the others are probed by two."""
    world = begun(database, max_full_probe_pairs=0, probes_per_host=2, control_hosts_per_agent=0)
    world.run()
    world.policy = replace(world.policy, max_distance_age_s=1)
    world.wait(10)
    for name in NAMES:
        world.call(name)
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    by_host = Counter(
        name for name in HOSTS for order in host_detail(database, name).orders if order.round == 2
    )
    # All hosts are alike in size; 2% of 30 is one host.
    assert Counter(by_host.values()) == {2: len(HOSTS) - 1, len(NAMES): 1}


def test_what_is_fresh_is_not_probed_again_but_controls_are_each_day(database: Database) -> None:
    """A month for hosts, a day for controls."""
    world = begun(database)
    world.run()
    for number, days in ((2, 0.1), (3, 2)):
        world.wait(days * 86_400)
        for name in NAMES:
            world.call(name)
        start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
        wanted = 0 if number == 2 else 3 * len(NAMES)
        assert sum(round_detail(database, number).orders.values()) == wanted
        world.run()


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("complete", "measured"),
        ("nothing to fetch", "measured"),
        ("unreachable: no answer within 20 s", "weak"),
        ("page limit", "weak"),
    ],
)
def test_a_probe_that_was_cut_short_is_not_taken_for_a_small_host(
    database: Database, reason: str, state: str
) -> None:
    """Two requests are all that a small host has, and too little where more was to come."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    world.order_probes("h1.jp")
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    world.call("a")
    world.fetch("a", "http://h1.jp:80/", kbytes=2)
    world.report("a")
    going = host_detail(database, "h1.jp", world.policy).distances[0]
    assert (going.kind, going.lines, going.state) == ("probe", 2, "weak")
    claims = world.agents["a"].unanswered
    claims[:] = [replace(claim, reason=reason) for claim in claims]
    world.call("a")
    (ended,) = host_detail(database, "h1.jp", world.policy).distances
    assert (str(ended.said), ended.state) == (reason, state)
    why = str(ended.reason)
    assert why.endswith(f"the agent said: {reason}") == (state == "weak")
    assert ("too little to rely on" in why) == (state == "weak")


@pytest.mark.parametrize(("reason", "volume"), [("complete", 2), ("page limit", 35)])
def test_a_plan_takes_a_probe_that_was_cut_short_for_a_part(
    database: Database, reason: str, volume: int
) -> None:
    """Of a unit that nobody crawled: it is as large as the median, not as the two pages seen."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp", "h2.jp", "h3.jp")
    world.order_probes("h1.jp", "h2.jp", "h3.jp")
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    world.call("a")
    for name, kbytes in (("h1", 2), ("h2", 30), ("h3", 40)):
        world.fetch("a", f"http://{name}.jp:80/", kbytes=kbytes)
    claims = world.agents["a"].unanswered
    claims[0] = replace(claims[0], reason=reason)
    world.report("a")
    world.call("a")
    with database.read() as tx:
        ids = ids_of_units(tx, [f"http://h{number}.jp:80/" for number in (1, 2, 3)])
        some = load_some(tx, members(tx), ids.values(), world.policy)
        every = load_all(tx, members(tx), ["idle", "probing"], world.policy)
    assert some is not None
    assert every is not None
    assert every.unit_ids.tolist() == some.unit_ids.tolist() == list(ids.values())
    assert every.work.volume_kb.tolist() == some.work.volume_kb.tolist() == [volume, 30, 40]
