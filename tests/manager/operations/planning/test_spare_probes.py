"""A host that a probe saw whole is probed by no other agent, and nothing of it is lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.hosts.hosts import ids_of_units
from manager.db.planning import missing_probes, probes
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail
from manager.operations.planning.probe_coverage import coverage
from manager.operations.planning.probe_orders import expected_probes
from manager.operations.planning.requested_probes import order_probes
from manager.operations.planning.spare_probes import drop_unneeded_probes
from manager.operations.rounds.predicted_plan import use_predictions
from manager.operations.rounds.rounds import current_round, round_detail, start_round
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c")
SMALL = tuple(f"small{n}.jp" for n in range(9))
LARGE = tuple(f"large{n}.jp" for n in range(3))
PAGES = 7
SOME = replace(
    POLICY,
    max_full_probe_pairs=0,
    control_hosts_per_agent=0,
    probe_large_share=0,
    probe_steps=0,
    whole_host_check_share=0,
    whole_hosts_most_share=1,
)


def unit(name: str) -> str:
    return f"http://{name}:80/"


def ready(database: Database, *hosts: str, method: str = "default", **policy: object) -> World:
    """Return a round of three agents that has just begun; small hosts have few pages."""
    world = World(database, replace(SOME, **policy))  # type: ignore[arg-type]  # fields of it
    world.join(*NAMES)
    for agent in world.agents.values():
        agent.continues_probes = True
    world.sizes = {unit(name): PAGES for name in SMALL}
    world.hosts(*(hosts or (*SMALL, *LARGE)))
    start_round(database, method, ADMIN, world.now_ms, policy=world.policy)
    return world


def small_probe(database: Database) -> tuple[World, str]:
    """Return a round of one small host, and the agent that has fetched all of it, unreported."""
    world = ready(database, SMALL[0])
    step(world)
    first = holder(world, SMALL[0])
    world.fetch(first, unit(SMALL[0]))
    return world, first


def states(world: World, name: str, number: int = 1) -> list[str]:
    """Return the states of the orders to probe a host in a round, in their order."""
    orders = [one for one in host_detail(world.db, name).orders if one.round == number]
    return sorted(one.state for one in orders)


def requests(world: World) -> int:
    return sum(agent.requests for agent in world.agents.values())


def step(world: World) -> None:
    """Let the manager tick and all agents take their lists."""
    world.wait(world.policy.tick_s)
    world.tick()
    for name in NAMES:
        world.call(name)


def holder(world: World, host: str) -> str:
    """Return the agent that is probing a host."""
    (name,) = [
        name for name, one in world.agents.items() if unit(host) in one.fetchable(world.true_ms)
    ]
    return name


def test_a_small_host_is_fetched_by_one_agent(database: Database) -> None:
    """Its other orders are not needed, whoever was first; a large host is probed by three."""
    world = ready(database)
    world.run()
    for name in SMALL:
        assert states(world, name) == ["done", "not_needed", "not_needed"]
        detail = host_detail(database, name)
        assert detail.units[0].volume_kb == PAGES
        reasons = {one.reason for one in detail.orders if one.state == "not_needed"}
        assert [one.code for one in reasons if one is not None] == ["planning.seen_whole"]
    for name in LARGE:
        assert states(world, name) == ["done", "done", "done"]
    assert requests(world) == len(SMALL) * PAGES + len(LARGE) * (2 * 50 + 100)
    assert round_detail(database, 1).orders == {"done": 9 + 9, "not_needed": 18}
    assert sum(one.not_needed for one in coverage(database, world.now_ms).agents) == 18
    assert sum(one.failed for one in coverage(database, world.now_ms).agents) == 0
    assert check(database) == []


def test_the_next_round_probes_none_of_them(database: Database) -> None:
    """Nothing that the others could say has changed."""
    world = ready(database)
    world.run()
    before = requests(world)
    with database.read() as tx:
        agent_ids = [one.identity.id for one in world.agents.values()]
        expected = expected_probes(tx, agent_ids, world.now_ms, world.policy)
    assert set(expected.values()) == {0}
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert round_detail(database, 2).orders == {}
    assert requests(world) - before == len(SMALL) * PAGES + len(LARGE) * 100


def test_agents_begin_with_different_hosts(database: Database) -> None:
    """Each has hosts that no other one probes first, so no probe waits for another one."""
    world = ready(database, *(f"h{n}.jp" for n in range(40)))
    step(world)
    held = Counter({name: len(one.listed) for name, one in world.agents.items()})
    assert held.total() == 40
    assert min(held.values()) >= 6
    step(world)
    assert Counter({name: len(one.listed) for name, one in world.agents.items()}) == held


def test_an_agent_that_has_no_host_of_its_own_left_probes_others(database: Database) -> None:
    """Those whose first agent cannot be given any."""
    world = ready(database, *(f"h{n}.jp" for n in range(40)))
    for _ in range(60):  # until the third counts as lost
        world.wait(40)
        world.tick()
        for name in ("a", "b"):
            world.call(name)
            world.work(name)
            world.call(name)
    world.run(names=("a", "b"))
    detail = round_detail(database, 1)
    assert detail.round.state == "finished"
    assert detail.units == {"finished": 40}


@pytest.mark.parametrize(("share", "few"), [(0.5, False), (0.8, True)])
def test_where_most_hosts_are_small_they_are_probed_as_others_are(
    database: Database, share: float, few: bool
) -> None:
    """Nine of twelve are: they are the crawl, and with one distance each nothing is balanced."""
    world = ready(database, whole_hosts_most_share=share)
    world.run()
    seen = Counter(tuple(states(world, name)) for name in SMALL)
    alone = ("done", "not_needed", "not_needed")
    assert (seen[alone] == len(SMALL)) if few else (seen[alone] == 0)
    assert check(database) == []


def test_a_drawn_share_is_probed_by_a_second_agent(database: Database) -> None:
    """Here it is all of them."""
    world = ready(database, whole_host_check_share=1)
    world.run()
    assert {tuple(states(world, name)) for name in SMALL} == {("done", "done", "not_needed")}
    assert check(database) == []


def test_an_agent_that_leaves_pages_out_is_contradicted(database: Database) -> None:
    """It says that a large host is small; the second one sees more, and the third one decides."""
    world = ready(database, LARGE[0], whole_host_check_share=1)
    step(world)
    liar = holder(world, LARGE[0])
    world.fetch(liar, unit(LARGE[0]), kbytes=2)
    world.report(liar)
    world.call(liar)
    step(world)
    assert states(world, LARGE[0]) == ["done", "granted", "not_needed"]
    world.run()
    assert states(world, LARGE[0]) == ["done", "done", "done"]
    assert check(database) == []


def test_the_others_wait_until_a_small_probe_is_judged(database: Database) -> None:
    """Its log is on its way; without it they probe, for nothing is known then."""
    world, first = small_probe(database)
    world.call(first)
    step(world)
    assert states(world, SMALL[0]) == ["finished", "waiting", "waiting"]
    world.agents[first].lines = []  # its disk failed
    world.wait(world.policy.log_timeout_s + 1)
    world.run()
    assert states(world, SMALL[0]) == ["done", "failed", "not_needed"]
    assert host_detail(database, SMALL[0]).units[0].volume_kb == PAGES
    assert check(database) == []


def test_a_log_that_comes_before_the_report_counts_too(database: Database) -> None:
    """Whatever comes last, the probe is done then."""
    world, first = small_probe(database)
    world.report(first)
    step(world)
    world.call(first)
    step(world)
    assert states(world, SMALL[0]) == ["done", "not_needed", "not_needed"]


def test_lines_that_come_in_two_logs_are_waited_for(database: Database) -> None:
    """A log was closed in the middle of the probe, and the next one is on its way for minutes."""
    world, first = small_probe(database)
    agent = world.agents[first]
    (line,) = agent.lines
    agent.lines = [replace(line, requests=3, pages=3, response_bytes=3000)]
    world.report(first)
    agent.lines = [replace(line, requests=4, pages=4, response_bytes=4000)]
    world.call(first)
    for _ in range(10):
        world.wait(world.policy.log_timeout_s)
        step(world)
    assert states(world, SMALL[0]) == ["done", "waiting", "waiting"]
    world.report(first)
    step(world)
    assert states(world, SMALL[0]) == ["done", "not_needed", "not_needed"]


def test_lines_that_are_lost_are_waited_for_no_longer(database: Database) -> None:
    """The agent has nothing left to send: the others probe the host."""
    world, first = small_probe(database)
    agent = world.agents[first]
    agent.lines = [replace(line, requests=3, pages=3, response_bytes=3000) for line in agent.lines]
    world.report(first)
    world.call(first)
    step(world)
    assert states(world, SMALL[0]) == ["done", "waiting", "waiting"]
    world.wait(world.policy.log_timeout_s + 1)
    step(world)
    step(world)
    assert states(world, SMALL[0]) == ["done", "granted", "waiting"]
    world.run()
    assert host_detail(database, SMALL[0]).units[0].pages is not None
    assert check(database) == []


def test_of_a_silent_host_the_others_are_asked(database: Database) -> None:
    """That one agent had no answer says nothing of the others."""
    world, first = small_probe(database)
    agent = world.agents[first]
    agent.unanswered = [
        replace(
            one, pages=1, response_bytes=0, failure="unreachable", reason="unreachable: timeout"
        )
        for one in agent.unanswered
    ]
    agent.claims, agent.lines = {}, []
    world.call(first)
    step(world)
    assert states(world, SMALL[0]) == ["done", "granted", "waiting"]


def test_the_word_of_a_suspect_agent_does_not_count(database: Database) -> None:
    """All others probe what it says to have seen."""
    world = ready(database, SMALL[0], LARGE[0])
    step(world)
    first = holder(world, SMALL[0])
    world.fetch(first, unit(SMALL[0]))
    world.report(first)
    world.call(first)
    with database.write() as tx:
        agents.update(tx, world.agents[first].identity.id, suspect_since_ms=world.now_ms)
    drop_unneeded_probes(database, world.now_ms, world.policy)
    assert states(world, SMALL[0]) == ["done", "waiting", "waiting"]


def test_a_host_that_had_more_pages_is_probed_by_all(database: Database) -> None:
    """Its last crawl found more than a probe sees: this one met an error, or leaves pages out."""
    world = ready(database, LARGE[0], method="keep")
    world.run()
    world.sizes[unit(LARGE[0])] = PAGES
    world.wait(world.policy.max_distance_age_s + 1)
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert states(world, LARGE[0], 2) == ["done", "done", "done"]


def test_what_a_person_orders_is_probed(database: Database) -> None:
    """In the round, though it was not needed; and what is ordered by a person is never dropped."""
    world = ready(database)
    world.run()
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    order_probes(database, ADMIN, world.now_ms, host=SMALL[0], policy=world.policy)
    assert states(world, SMALL[0], 2) == ["waiting", "waiting", "waiting"]
    world.run()
    assert "not_needed" not in states(world, SMALL[0], 2)


def test_what_was_not_needed_can_be_ordered_again(database: Database) -> None:
    """By a person, or because the saving is worth it."""
    world = ready(database, SMALL[0], LARGE[0])
    step(world)
    first = holder(world, SMALL[0])
    world.fetch(first, unit(SMALL[0]))
    world.report(first)
    world.call(first)
    step(world)
    assert states(world, SMALL[0]) == ["done", "not_needed", "not_needed"]
    done = order_probes(database, ADMIN, world.now_ms, host=SMALL[0], policy=world.policy)
    assert (done.orders, done.known) == (2, 1)
    assert states(world, SMALL[0]) == ["done", "waiting", "waiting"]
    world.run()
    assert states(world, SMALL[0]) == ["done", "done", "done"]
    with database.read() as tx:
        (number,) = ids_of_units(tx, [unit(SMALL[0])]).values()
        assert missing_probes.ordered_of_units(tx, 0)[number] == 3


def test_a_host_that_is_worth_it_is_probed_by_others_after_all(database: Database) -> None:
    """Where a further probe need not save all that it costs, it is ordered."""
    world = ready(database, probe_steps=4, whole_host_probe_gain=0, probe_gain=0)
    world.run()
    found = Counter(state for name in SMALL for state in states(world, name))
    assert found["done"] > len(SMALL)
    assert check(database) == []


@pytest.mark.parametrize("method", ["random", "default", "keep"])
def test_a_small_host_stays_with_the_agent_that_fetched_it(database: Database, method: str) -> None:
    """Any other one would fetch it again, also where owners are drawn."""
    world = ready(database, method=method)
    world.run()
    for name in SMALL:
        detail = host_detail(database, name)
        (probed,) = [one.agent_id for one in detail.orders if one.state == "done"]
        assert detail.owners[0].agent_id == probed


def test_small_hosts_of_an_address_do_not_decide_who_gets_the_large_one(
    database: Database,
) -> None:
    """Each was fetched by one agent; all three measured the large one, and the nearest gets it."""
    world = World(database, SOME)
    world.join(*NAMES)
    for name in ("a", "c"):
        world.agents[name].speed = 5.0
    world.sizes = {unit(name): PAGES for name in SMALL}
    world.hosts(*SMALL[:3], LARGE[0], address="203.0.113.9")
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert states(world, LARGE[0]) == ["done", "done", "done"]
    detail = host_detail(database, LARGE[0])
    assert detail.agents[detail.owners[0].agent_id] == "b"


def test_a_plan_on_predictions_needs_no_probe_that_waits(database: Database) -> None:
    """They are not failed: nobody tried them."""
    world = ready(database, *LARGE)
    use_predictions(database, ADMIN, world.now_ms)
    assert {tuple(states(world, name)) for name in LARGE} == {("not_needed",) * 3}
    current = current_round(database)
    assert current is not None
    with database.read() as tx:
        assert not probes.any_open(tx, current.number)
