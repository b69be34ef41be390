"""Rounds: starting, cancelling, and what may go wrong on the way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from manager.balancing.balancers import Options
from manager.balancing.balancers import make_plan as solve
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem
from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.agents import retire
from manager.operations.fleet.contact import unsubscribe
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import HostFilter, host_detail, list_hosts
from manager.operations.hosts.hosts import exclude_host
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.round_progress import begin_crawl
from manager.operations.rounds.rounds import (
    cancel_round,
    current_round,
    list_rounds,
    round_detail,
    start_round,
)
from manager.operations.rounds.tick import tick
from shared.errors import FormatError
from shared.messages import Message
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario

H1 = "http://h1.jp:80/"


def probing(database: Database, *names: str, hosts: tuple[str, ...] = ("h1.jp",)) -> World:
    """Return a world whose first round has begun to probe; a person ordered what is missing.

    With a single agent a round orders no probe itself.
    """
    world = World(database)
    world.join(*names)
    world.hosts(*hosts)
    if len(names) == 1:
        world.order_probes(*hosts)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    for name in names:
        world.call(name)
    return world


def test_a_round_needs_an_agent_and_a_host(database: Database) -> None:
    """What is missing is said, with what to do."""
    world = World(database)
    with pytest.raises(ConflictError, match="no agent has called yet"):
        start_round(database, "keep", ADMIN, world.now_ms)
    world.join("a")
    with pytest.raises(ConflictError, match="no host has an address yet"):
        start_round(database, "keep", ADMIN, world.now_ms)
    with pytest.raises(FormatError, match="must be one of default, random, keep, tree"):
        start_round(database, "luck", ADMIN, world.now_ms)
    assert list_rounds(database) == []


def test_one_round_goes_on_at_a_time(database: Database) -> None:
    """A second one is refused until the first ends or is cancelled."""
    world = probing(database, "a")
    with pytest.raises(ConflictError, match="round 1 is probing"):
        start_round(database, "keep", ADMIN, world.now_ms)
    assert cancel_round(database, ADMIN, world.now_ms, "a try") == 1
    with pytest.raises(ConflictError, match="no round is open"):
        cancel_round(database, ADMIN, world.now_ms)
    assert start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy) == 2
    world.run()
    second, first = list_rounds(database)
    assert (first.state, str(first.reason), second.state) == ("cancelled", "a try", "finished")
    assert check(database) == []


def test_cancelling_in_the_crawl_takes_rights_back(database: Database) -> None:
    """Agents stop with their next lists; owners and measurements stay."""
    world = probing(database, "a")
    world.work("a")
    world.call("a")
    world.tick()
    world.call("a")
    assert H1 in world.agents["a"].fetchable(world.true_ms)
    cancel_round(database, ADMIN, world.now_ms)
    world.tick()
    world.call("a")
    assert world.agents["a"].fetchable(world.true_ms) == {}
    detail = host_detail(database, "h1.jp")
    assert (len(detail.owners), len(detail.distances), detail.rights) == (1, 1, [])
    assert check(database) == []


def test_a_host_is_with_one_prober_at_a_time(database: Database) -> None:
    """Orders are given in rotation: every agent works, none at the address of another."""
    world = probing(database, "a", "b", "c", hosts=tuple(f"h{n}.jp" for n in range(60)))
    held = Counter(len(world.agents[name].fetchable(world.true_ms)) for name in "abc")
    assert held == {20: 3}
    world.check_exclusive()
    world.run()
    assert round_detail(database, 1).orders == {"done": 180}


def test_large_fleets_probe_each_host_from_some(database: Database) -> None:
    """Above a number of pairs a host is probed by its finder, its owner and a few at random."""
    names = ("a", "b", "c", "d", "e", "f")
    world = World(database, replace(POLICY, max_full_probe_pairs=10, probes_per_host=3))
    world.join(*names)
    finder = world.agents["f"].identity
    found = [(n, f"http://h{n}.jp/", None) for n in range(8)]
    record_discovered(database, finder, found, world.now_ms, world.policy)
    world.resolve()
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    orders = round_detail(database, 1).orders
    assert set(orders) == {"done"}
    # Three each, and what the first plan would have placed on a prediction.
    assert 24 <= orders["done"] < 48
    probers = Counter(
        detail.agents[row.agent_id]
        for n in range(8)
        for detail in [host_detail(database, f"h{n}.jp")]
        for row in detail.distances
        if row.state == "measured"
    )
    assert probers["f"] == 8
    assert len(probers) > 3
    assert check(database) == []


def test_a_probe_that_takes_too_long_is_given_up(database: Database) -> None:
    """The round goes on without that distance; the agent is told with its next list."""
    world = probing(database, "a", "b")
    holder = next(name for name in "ab" if world.agents[name].fetchable(world.true_ms))
    other = "b" if holder == "a" else "a"
    for _ in range(80):
        world.wait(40)
        world.tick()
        for name in "ab":
            world.call(name)
    assert round_detail(database, 1).orders.get("failed") == 1
    assert H1 not in world.agents[holder].fetchable(world.true_ms)
    world.work(other)
    world.run()
    assert round_detail(database, 1).orders == {"done": 1, "failed": 1}
    assert check(database) == []


def test_who_is_away_holds_no_round_up(database: Database) -> None:
    """Orders of an agent that sleeps or is lost are given up after a while."""
    world = probing(database, "a", "b", hosts=("h1.jp", "h2.jp"))
    for _ in range(100):
        world.wait(40)
        world.tick()
        world.call("a")
        world.work("a")
        world.call("a")
    assert current_round(database) is None
    orders = round_detail(database, 1).orders
    assert orders == {"done": 2, "failed": 2}
    assert {line.owner for line in list_hosts(database).hosts} == {"a"}


def test_a_probe_without_a_log_is_given_up(database: Database) -> None:
    """An agent that finished and has nothing to send will send nothing."""
    world = probing(database, "a")
    world.fetch("a", H1)
    world.agents["a"].lines = []
    world.sync("a")
    assert round_detail(database, 1).orders == {"finished": 1}
    world.wait(world.policy.log_timeout_s + 1)
    world.sync("a")
    assert round_detail(database, 1).orders == {"failed": 1}
    world.run()
    assert current_round(database) is None


def test_a_log_that_came_first_is_not_waited_for(database: Database) -> None:
    """Where the log was quicker than the news, the probe is done with the news."""
    world = probing(database, "a")
    world.fetch("a", H1)
    world.report("a")
    assert round_detail(database, 1).orders == {"granted": 1}
    world.sync("a")
    assert round_detail(database, 1).orders == {"done": 1}


def test_a_host_that_nobody_reaches_is_crawled_all_the_same(database: Database) -> None:
    """Somebody must go on trying."""
    world = probing(database, "a", "b")
    for _ in range(2):
        for name in ("a", "b"):
            for unit in list(world.agents[name].fetchable(world.true_ms)):
                world.fetch(name, unit, kbytes=0)
            world.agents[name].lines = []
            told = world.agents[name].unanswered
            told[:] = [replace(one, failure="unreachable") for one in told]
            world.sync(name)
        world.tick()
        for name in ("a", "b"):
            world.call(name)
    distances = host_detail(database, "h1.jp").distances
    assert [row.ms_per_kb for row in distances] == [None, None]
    assert all(row.unreachable_since_ms for row in distances)
    world.run()
    assert round_detail(database, 1).units == {"finished": 1}


def test_hosts_found_in_the_crawl_join_it(database: Database) -> None:
    """Resolved, probed by a few, placed where they cost least, crawled: all in the same round."""
    world = probing(database, "a", "b")
    for name in ("a", "b"):
        world.work(name)
        world.call(name)
        world.tick()
        for each in ("a", "b"):
            world.call(each)
    world.work("b")
    world.call("b")
    world.tick()
    current = current_round(database)
    assert current is not None
    assert current.state == "crawling"
    world.address["http://twin.jp:80/"] = world.address[H1]
    found = [(1, "http://new.jp/", None), (2, "http://twin.jp/", None)]
    record_discovered(database, world.agents["a"].identity, found, world.now_ms)
    world.run()
    assert round_detail(database, 1).units == {"finished": 3}
    new = host_detail(database, "new.jp")
    assert len(new.distances) == 2
    assert new.owners[0].reason_opened == Message("ownership.new_cheapest")
    twin, first = host_detail(database, "twin.jp"), host_detail(database, "h1.jp")
    assert twin.owners[0].agent_id == first.owners[0].agent_id
    assert twin.group == ["http://h1.jp:80/", "http://twin.jp:80/"]
    assert [order for order in twin.orders if order.state != "failed"] == []


def test_hosts_found_while_probing_wait_for_the_crawl(database: Database) -> None:
    """Else each probe would find more hosts, and the probing would never end."""
    world = probing(database, "a")
    record_discovered(
        database, world.agents["a"].identity, [(1, "http://new.jp/", None)], world.now_ms
    )
    world.resolve()
    world.tick()
    assert [line.key for line in list_hosts(database, HostFilter(state="idle")).hosts] == [
        "http://new.jp:80/"
    ]
    world.run()
    assert round_detail(database, 1).units == {"finished": 2}


def test_a_round_ends_when_the_logs_are_in(database: Database) -> None:
    """All units finished is not enough: what is in an outbox still belongs to the round."""
    world = probing(database, "a")
    world.work("a")
    world.call("a")
    world.tick()
    world.call("a")
    world.fetch("a", H1)
    world.sync("a")
    world.wait(world.policy.log_timeout_s + 1)
    world.sync("a")
    world.tick()
    current = current_round(database)
    assert current is not None, "a log waits at the agent"
    world.report("a")
    world.sync("a")
    world.tick()
    assert current_round(database) is None
    detail = round_detail(database, 1)
    assert detail.round.makespan_agent == "a"
    assert detail.round.makespan_ms == detail.agents[0]["measured_ms"] > 0


def test_each_step_is_in_the_audit(database: Database) -> None:
    """Who started it, and when the clock moved it on."""
    world = probing(database, "a")
    world.run()
    rows = [(row.action, row.actor_name) for row in reversed(audit_page(database))]
    rounds = [row for row in rows if row[0].startswith("round.")]
    assert rounds == [
        ("round.start", "hana"),
        ("round.start-crawl", "tick"),
        ("round.finish", "tick"),
    ]
    with pytest.raises(NotFoundError):
        round_detail(database, 9)


def test_what_changes_while_a_plan_is_made_makes_it_stale(database: Database) -> None:
    """Plans are made outside transactions; one that does not fit is made again by the next tick."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp")
    start_round(database, "prices", ADMIN, world.now_ms, probe=False, policy=world.policy)
    plans: list[str] = []

    def slow_planner(method: str, problem: Problem, options: Options) -> Plan:
        if not plans:
            exclude_host(database, "h1.jp", "asked to", ADMIN, world.now_ms)
        plans.append(method)
        return solve(method, problem, options)

    assert not tick(database, world.now_ms, world.policy, slow_planner).crawl_began
    assert check(database) == []
    assert tick(database, world.now_ms, world.policy, slow_planner).crawl_began
    assert plans == ["prices", "prices"]
    assert round_detail(database, 1).units == {"granted": 1}


def test_a_round_that_is_cancelled_while_a_plan_is_made_stays_cancelled(
    database: Database,
) -> None:
    """The plan comes too late and moves nothing."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)

    def slow_planner(method: str, problem: Problem, options: Options) -> Plan:
        cancel_round(database, ADMIN, world.now_ms)
        return solve(method, problem, options)

    assert not tick(database, world.now_ms, world.policy, slow_planner).crawl_began
    assert host_detail(database, "h1.jp").owners == []
    assert check(database) == []


def test_a_plan_is_made_beside_the_tick(database: Database) -> None:
    """Ticks go on while it is made, and take over what they must; what comes of it is later."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp", "h3.jp", "h4.jp")
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    moved: list[int] = []

    def slow_planner(method: str, problem: Problem, options: Options) -> Plan:
        if not moved:
            retire(database, "b", ADMIN, world.now_ms)
        for _ in range(3):
            world.wait(40)
            done = tick(database, world.now_ms, world.policy, planner=None)
            assert done.moved_ms == 0
            moved.append(done.units_taken_over)
        return solve(method, problem, options)

    def begin() -> bool:
        return begin_crawl(database, lambda: world.now_ms, world.policy, slow_planner)

    began = begin() or begin()
    assert began
    assert sum(moved) > 0
    assert tick(database, world.now_ms, world.policy, planner=None).moved_ms == 0
    assert round_detail(database, 2).round.crawling_ms == world.now_ms
    for host in ("h1.jp", "h2.jp", "h3.jp", "h4.jp"):
        times = [(row.since_ms, row.until_ms) for row in host_detail(database, host).owners]
        assert all(until is None or since <= until for since, until in times), host
    assert check(database) == []


def test_a_round_without_anybody_waits(database: Database) -> None:
    """Where the only agent left, the round goes on when somebody joins."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    unsubscribe(database, world.agents["a"].identity, world.now_ms, world.policy)
    assert not world.tick().crawl_began
    world.join("b")
    assert world.tick().crawl_began
