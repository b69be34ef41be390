"""Pages are fetched again by other agents after a round, and a liar is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import refetch_orders, refetch_pages
from manager.operations.fleet.agents import list_agents
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.bans import ban_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.measurement.refetch_results import refetches_of
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import cancel_round, start_round
from tests.manager.operations.world import ADMIN, POLICY, PROBED_PAGES, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c", "d")
HOSTS = tuple(f"h{n}.jp" for n in range(16))


def crawled(
    database: Database, *speaking: str, names: tuple[str, ...] = NAMES, **changes: float
) -> World:
    """Return a world in which a round is over, and nothing was fetched again yet."""
    policy = replace(POLICY, **changes)  # type: ignore[arg-type]  # names and types are the tests'
    world = World(database, policy)
    world.join(*names)
    for name in speaking:
        world.agents[name].refetches = True
    world.hosts(*HOSTS)
    start_round(database, "random", ADMIN, world.now_ms, seed=3, policy=world.policy)
    return world


def row(world: World, name: str) -> AgentRow:
    with world.db.read() as tx:
        found = agents.by_name(tx, name)
    assert found is not None
    return found


def suspects(world: World) -> dict[str, str]:
    views = list_agents(world.db, world.now_ms, world.policy)
    return {
        view.row.name: str(view.row.suspect_reason) for view in views if view.row.suspect_reason
    }


class SmallHosts(World):
    """A world of hosts of so many pages; a probe has 50."""

    kbytes = 100

    def fetch(self, name: str, unit: str, kbytes: int = 100) -> None:
        """Fetch all of a unit."""
        super().fetch(name, unit, self.kbytes)


def test_honest_agents_agree(database: Database) -> None:
    """Of each agent's pages so many are fetched again as is ordered, and all are the same."""
    world = crawled(database, *NAMES)
    world.run()
    for name in NAMES:
        found = refetches_of(database, name)
        mine = [page for page in found.pages if page.crawled_by == name]
        assert found.round == 1
        assert found.tally.contradicted == 0
        assert len(mine) == 30
        assert all(page.verdict for page in found.pages)
        assert all(set(page.said) != {name} for page in found.pages)
    assert suspects(world) == {}
    assert check(database) == []


@pytest.mark.parametrize(
    ("agents_in_all", "kbytes"),
    [(3, 50), (3, 100), (17, 50)],
    ids=["3, all in the probe", "3, half in the probe", "17, all in the probe"],
)
def test_a_liar_is_named_though_its_crawls_continue_its_probes(
    database: Database, agents_in_all: int, kbytes: int
) -> None:
    """Pages of its probes are drawn as those of its crawls are, so it is asked about as many."""
    names = tuple(f"a{number}" for number in range(agents_in_all))
    world = SmallHosts(database, replace(POLICY, probes_per_host_per_day=17))
    world.kbytes = kbytes
    world.join(*names)
    for agent in world.agents.values():
        agent.refetches = agent.continues_probes = True
    liar = names[1]
    world.agents[liar].sees_bytes = 77_000
    hosts = [f"h{number}.jp" for number in range(agents_in_all + 10)]
    world.hosts(*hosts)
    start_round(database, "random", ADMIN, world.now_ms, seed=3, policy=world.policy)
    world.run()
    found = refetches_of(database, liar)
    mine = [page for page in found.pages if page.crawled_by == liar]
    units = sum(
        host_detail(database, host).owners[-1].agent_id == world.agents[liar].identity.id
        for host in hosts
    )
    assert len(mine) == min(30, units * kbytes // 5)
    probed = {page.url for page in mine if int(page.url.rpartition("/")[2][:-5]) < PROBED_PAGES}
    assert (len(probed) == len(mine)) == (kbytes == 50)
    assert probed
    assert found.suspect
    assert found.tally.contradicted == found.tally.compared >= 10
    assert list(suspects(world)) == [liar]


def test_who_invents_is_named(database: Database) -> None:
    """Two others see its pages otherwise: it is suspect, in words, and the audit has an alert."""
    world = crawled(database, *NAMES)
    world.agents["c"].sees_bytes = 77_000
    world.run()
    found = refetches_of(database, "c")
    assert found.suspect
    assert found.tally.contradicted == found.tally.compared >= 30
    assert all(page.verdict is False for page in found.pages)
    assert list(suspects(world)) == ["c"]
    assert "fetched again" in suspects(world)["c"]
    alerts = audit_page(database, action="agent.suspect")
    assert [(entry.subject, entry.alert) for entry in alerts] == [("c", True)]
    assert {refetches_of(database, name).tally.contradicted for name in "abd"} == {0}
    # It tells the truth in the next round: it is sound again.
    world.agents["c"].sees_bytes = 9_000
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    assert suspects(world) == {}
    assert refetches_of(database, "c").round == 2


def test_of_two_agents_nobody_can_say_who_lies(database: Database) -> None:
    """There is no third; so it is shown, and nobody is suspect."""
    world = crawled(database, "a", "b", names=("a", "b"))
    world.agents["b"].sees_bytes = 77_000
    world.run()
    found = refetches_of(database, "a")
    assert found.tally.compared == 0
    assert len(found.pages) == 60
    assert all(page.verdict is None for page in found.pages)
    assert suspects(world) == {}


def test_who_does_not_speak_it_is_not_asked(database: Database) -> None:
    """An agent of an older version gets no such order; a round with such agents alone has none."""
    world = crawled(database, "a", "b")
    world.run()
    fetched = {
        name
        for page in refetches_of(database, "a").pages
        for name in page.said
        if page.crawled_by == "a"
    }
    assert fetched == {"a", "b"}
    world = crawled_by_old(database, world)
    assert refetches_of(database, "d").pages == []


def crawled_by_old(database: Database, world: World) -> World:
    for agent in world.agents.values():
        agent.refetches = False
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    return world


def test_a_ban_holds_for_pages_too(database: Database) -> None:
    """Who never gets a host does not get its pages to compare either."""
    world = crawled(database, *NAMES)
    for host in HOSTS:
        ban_host(database, host, "b", "asked for", ADMIN, world.now_ms)
    world.run()
    for name in "acd":
        said = {who for page in refetches_of(database, name).pages for who in page.said}
        assert "b" not in said


def test_nothing_is_fetched_again_where_the_share_is_0(database: Database) -> None:
    """The operator's word."""
    world = crawled(database, *NAMES, refetch_share=0.0)
    world.run()
    assert all(refetches_of(database, name).pages == [] for name in NAMES)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_new_round_begins_meanwhile(database: Database, cancelled: bool) -> None:
    """What was under way is given out again; rights stay exclusive (which `run` checks)."""
    world = crawled(database, *NAMES)
    world.agents["c"].sees_bytes = 77_000
    for _ in range(200):
        world.wait(world.policy.tick_s)
        world.tick()
        with database.read() as tx:
            if refetch_orders.granted_units(tx):
                break
        for name in NAMES:
            world.call(name)
            world.work(name)
            world.call(name)
    else:
        raise AssertionError("no page was given out to be fetched again")
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    if cancelled:
        cancel_round(database, ADMIN, world.now_ms)
    world.run()
    assert check(database) == []
    assert list(suspects(world)) == ["c"]


def test_an_agent_that_is_lost_is_replaced(database: Database) -> None:
    """Its orders are given up, and others are asked."""
    world = crawled(database, *NAMES)
    quiet = [name for name in NAMES if name != "d"]
    for _ in range(200):
        world.wait(world.policy.tick_s)
        world.tick()
        with database.read() as tx:
            if refetch_orders.agents_with_open(tx):
                break
        for name in NAMES:
            world.call(name)
            world.work(name)
            world.call(name)
    for _ in range(40):
        world.wait(60)
        world.tick()
        for name in quiet:
            world.call(name)
            world.work(name)
            world.call(name)
    with database.read() as tx:
        assert refetch_orders.agents_with_open(tx) == []
        assert refetch_pages.open_pages(tx, 10) == []
    assert refetches_of(database, "a").tally.compared >= 30
    assert check(database) == []


def test_no_page_is_asked_of_its_own_agent(database: Database) -> None:
    """And each page is first asked of one other, never twice of the same."""
    world = crawled(database, *NAMES)
    world.agents["a"].sees_bytes = 77_000
    world.run()
    with database.read() as tx:
        for name in NAMES:
            mine = row(world, name)
            for page in refetch_pages.pages_of_agent(tx, mine.id, 1):
                asked = [
                    order.agent_id
                    for order in refetch_orders.orders_of_pages(tx, [page.id])[page.id]
                ]
                assert page.agent_id not in asked
                assert len(asked) == len(set(asked))
                assert page.state == "closed"
