"""Addresses that many sites share: groups, seats, shares, and changes of the rule."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from manager.assignment import shared_addresses
from manager.db.engine import Database
from manager.db.hosts import address_rules
from manager.db.hosts.address_rules import AddressRule
from manager.db.rounds import rounds
from manager.operations.hosts.address_decisions import decide_address
from manager.operations.hosts.address_rules import end_sharing
from manager.operations.hosts.host_views import host_detail
from manager.operations.ownership.reassignment import members
from manager.operations.rounds.rounds import start_round
from shared.errors import ConflictError, FormatError
from tests.manager.operations.world import ADMIN, POLICY, World
from tests.postgres import PostgresServer

MOST = 4
SMALL = replace(POLICY, shared_address_domains=MOST)
CDN = "192.0.2.1"
OTHER = "192.0.2.2"
PLACES = [(CDN,), (OTHER,), (CDN, OTHER), ("192.0.2.9",)]


def rule_of(world: World, address: str = CDN) -> AddressRule | None:
    """Return the rule of an address; None: it has none."""
    with world.db.read() as tx:
        return address_rules.of_addresses(tx, [address]).get(address)


def state_of_round(world: World) -> str | None:
    """Return the state of the open round; None: there is none."""
    with world.db.read() as tx:
        found = rounds.open_round(tx)
    return None if found is None else found.state


def groups(world: World, *names: str) -> list[int | None]:
    """Return the groups of hosts."""
    return [host_detail(world.db, name).host.group_id for name in names]


def sites(*numbers: int) -> list[str]:
    """Return hosts, each of another domain."""
    return [f"www.d{number}.jp" for number in numbers]


def test_a_small_server_with_some_blogs_is_one_clock(database: Database) -> None:
    """As many domains as are allowed are one group, whatever the number of their hosts."""
    world = World(database, SMALL)
    world.hosts(*sites(1, 2, 3, 4), *(f"h{n}.d4.jp" for n in range(20)), address=CDN)
    assert rule_of(world) is None
    assert len(set(groups(world, *sites(1, 2, 3, 4)))) == 1


def test_one_domain_more_makes_an_address_shared(database: Database) -> None:
    """Hosts are then grouped by registrable domain, those that came before too."""
    world = World(database, SMALL)
    world.hosts(*sites(1, 2, 3, 4), "blog.d1.jp", address=CDN)
    world.hosts(*sites(5), address=CDN)
    found = rule_of(world)
    assert found is not None
    assert (found.rule, found.reason) == ("shared", "domains")
    assert len(set(groups(world, *sites(1, 2, 3, 4, 5)))) == 5
    assert len(set(groups(world, "www.d1.jp", "blog.d1.jp"))) == 1
    world.hosts("new.d2.jp", *sites(6), address=CDN)
    assert len(set(groups(world, "www.d2.jp", "new.d2.jp"))) == 1
    assert len(set(groups(world, *sites(1, 2, 3, 4, 5, 6)))) == 6


def test_an_address_of_a_cdn_is_shared_at_once(database: Database) -> None:
    """Two sites behind it are no group; nor are those in a range of the settings."""
    world = World(database, replace(SMALL, shared_networks=("198.51.100.0/24",)))
    world.hosts(*sites(1, 2), address="104.16.1.2")
    world.hosts(*sites(3, 4), address="198.51.100.7")
    assert len(set(groups(world, *sites(1, 2, 3, 4)))) == 4
    found = rule_of(world, "104.16.1.2")
    assert found is not None
    assert (found.rule, found.reason) == ("shared", "published")


def test_a_group_joined_at_another_address_stays_one(database: Database) -> None:
    """Hosts that also share a server of few domains have one owner."""
    world = World(database, SMALL)
    world.hosts(*sites(1, 2, 3, 4), address=CDN)
    world.hosts(*sites(7, 8), address=OTHER)
    for name in sites(1, 7):
        world.address[f"http://{name}:80/"] = (CDN, OTHER)
    world.wait(8 * 86_400)
    world.resolve()
    world.hosts(*sites(5, 6), address=CDN)
    found = groups(world, *sites(1, 7, 8))
    assert len(set(found)) == 1
    assert len(set(groups(world, *sites(1, 2, 3, 4)))) == 4


@pytest.mark.parametrize("agents", [1, 3])
def test_agents_crawl_an_address_together(database: Database, agents: int) -> None:
    """Each has domains of one address, at a share of its rate, and all is crawled."""
    world = World(database, SMALL)
    world.hosts(*sites(*range(12)), address=CDN)
    names = [f"a{n}" for n in range(agents)]
    world.join(*names)
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)

    def turn() -> list[str]:
        """Let all call, and return who has something to fetch."""
        world.wait(20)
        world.tick()
        for name in names:
            world.call(name)
            world.check_exclusive()
        return [name for name in names if world.agents[name].fetchable(world.true_ms)]

    def work_until(done: Callable[[], bool]) -> None:
        for _ in range(40):
            busy = turn()
            if done():
                return
            for name in busy:
                world.work(name, 4)
        raise AssertionError("it takes too long")

    work_until(lambda: state_of_round(world) == "crawling")
    # Whoever is quick has to wait, or it may be done before the last one has heard of its share.
    busy: list[str] = []
    for _ in range(20):
        busy = turn()
        if busy == names:
            break
    assert busy == names
    found = rule_of(world)
    assert found is not None
    assert found.shares == agents
    assert {world.agents[name].shared[CDN].shares for name in names} == {agents}
    work_until(
        lambda: all(host_detail(database, name).units[0].pages for name in sites(*range(12)))
    )


def test_few_domains_again_are_one_clock(database: Database) -> None:
    """With half of the domains, not before; agents hear it when one of them is left there."""
    world = World(database, SMALL)
    world.join("a")
    world.hosts(*sites(*range(5)), address=CDN)
    world.sync("a")
    assert world.agents["a"].shared[CDN].domains == 5
    for number, expected in ((2, "shared"), (1, "shared"), (0, "single")):
        moved = sites(*range(2 + number, 5))
        for name in moved:
            world.address[f"http://{name}:80/"] = (f"192.0.2.{10 + int(name[5])}",)
        world.wait(8 * 86_400)
        world.resolve()
        world.tick()
        world.tick()
        found = rule_of(world)
        assert found is not None
        assert found.rule == expected, (number, found)
    world.sync("a")
    assert CDN not in world.agents["a"].shared
    assert len(set(groups(world, *sites(0, 1)))) == 1


def test_a_person_decides_and_leaves_it_to_the_domains_again(database: Database) -> None:
    """A server of two sites is shared, one of many is one clock; each is an audit row."""
    world = World(database, SMALL)
    world.hosts(*sites(1, 2), address=CDN)
    world.hosts(*sites(3, 4, 5, 6, 7), address=OTHER)
    decide_address(database, CDN, "shared", ADMIN, world.now_ms, SMALL)
    assert len(set(groups(world, *sites(1, 2)))) == 2
    found = decide_address(database, OTHER, "single", ADMIN, world.now_ms, SMALL)
    assert (found.rule, found.reason, found.decided_by) == ("merging", "person", ADMIN.name)
    assert len(set(groups(world, *sites(3, 4, 5, 6, 7)))) == 1
    world.tick()
    world.hosts(*sites(8), address=OTHER)
    assert {rule.rule for rule in (rule_of(world, OTHER),) if rule} == {"single"}
    assert decide_address(database, OTHER, "auto", ADMIN, world.now_ms, SMALL).rule == "shared"
    assert len(set(groups(world, *sites(3, 4, 5, 6, 7, 8)))) == 6
    decide_address(database, CDN, "auto", ADMIN, world.now_ms, SMALL)
    world.wait(10)
    world.tick()
    world.tick()
    assert {rule.rule for rule in (rule_of(world),) if rule} == {"single"}
    for address, decision in (("nonsense", "shared"), (CDN, "maybe")):
        with pytest.raises(FormatError):
            decide_address(database, address, decision, ADMIN, world.now_ms, SMALL)


def test_the_rates_of_a_small_number_of_agents_fit() -> None:
    """Agents that have heard nothing stay within the rate of the address."""
    for domains in (1, 5, 21, 3000, 10**6):
        for burst in (1, 3):
            agents = shared_addresses.most_agents(10.0 / burst, 20.0, domains, 0.2)
            rate = shared_addresses.requests_per_s(20.0, domains, 0.2)
            assert agents == 1 or agents * burst / 10.0 <= rate + 1e-9
    assert math.isinf(shared_addresses.requests_per_s(0.0, 5, 0.2))


class SharedAddressLife(RuleBasedStateMachine):
    """Some agents, one of a version before, and two addresses to which hosts come and go."""

    @initialize()
    def begin(self) -> None:
        self.open = ExitStack()
        url = self.open.enter_context(NEW_DATABASE[0]())
        self.world = World(self.open.enter_context(closing(Database(url))), SMALL)
        self.world.join("a", "b", "c", "old")
        self.world.agents["old"].shared_held = None
        self.known: list[str] = []

    @rule(numbers=st.sets(st.integers(0, 11), min_size=1, max_size=5), at=st.integers(0, 1))
    def hosts_come(self, numbers: set[int], at: int) -> None:
        """Hosts of some domains are found at an address, or move there."""
        address = (CDN, OTHER)[at]
        new = [name for name in sites(*numbers) if name not in self.known]
        self.known += new
        if new:
            self.world.hosts(*new, address=address)

    @rule(
        number=st.integers(0, 11),
        at=st.sampled_from(PLACES),
    )
    def host_moves(self, number: int, at: tuple[str, ...]) -> None:
        """A name leads elsewhere, and the manager learns it."""
        self.world.address[f"http://www.d{number}.jp:80/"] = at
        self.weeks_pass()  # the judge knows where a name leads, so the manager must

    @rule()
    def weeks_pass(self) -> None:
        """All names are looked up again; permits are over."""
        self.world.wait(8 * 86_400)
        self.world.resolve()

    @rule(seconds=st.sampled_from([1, 5, 61, 700]))
    def time_passes(self, seconds: int) -> None:
        """The clock ticks."""
        self.world.wait(seconds)
        self.world.tick()

    @rule()
    def round_starts(self) -> None:
        """A round begins where there is none; without an agent that takes part it is refused."""
        world = self.world
        if state_of_round(world) is not None or not self.known:
            return
        with world.db.read() as tx:
            taking = members(tx)
        refused = nullcontext() if taking else pytest.raises(ConflictError)
        with refused as error:
            start_round(world.db, "random", ADMIN, world.now_ms, policy=world.policy)
        assert error is None or error.value.code == "rounds.no_agent"

    @rule(name=st.sampled_from(["a", "b", "c", "old"]), lost=st.booleans())
    def agent_syncs(self, name: str, lost: bool) -> None:
        """An agent syncs; the answer may be lost."""
        self.world.sync(name, answer_lost=lost)

    @rule(name=st.sampled_from(["a", "b", "c", "old"]))
    def agent_calls(self, name: str) -> None:
        """An agent takes its list."""
        self.world.call(name)

    @rule(turns=st.integers(1, 6))
    def all_call(self, turns: int) -> None:
        """For a while everything runs as it should."""
        for _ in range(turns):
            self.world.wait(5)
            self.world.tick()
            for name in self.world.agents:
                self.world.call(name)
                self.world.check_exclusive()

    @rule(name=st.sampled_from(["a", "b", "c", "old"]), most=st.integers(1, 3))
    def agent_works(self, name: str, most: int) -> None:
        """An agent fetches some units."""
        self.world.work(name, most)

    @rule(name=st.sampled_from(["a", "b", "c", "old"]))
    def agent_loses_its_disk(self, name: str) -> None:
        """An agent comes back with nothing."""
        self.world.agents[name].lose_disk()

    @rule(address=st.sampled_from([CDN, OTHER]))
    def few_domains(self, address: str) -> None:
        """A shared address is to be one clock."""
        found = rule_of(self.world, address)
        if found is not None and found.rule == "shared":
            with self.world.db.write() as tx:
                end_sharing(tx, address, "few", found.domains, self.world.now_ms)

    @invariant()
    def rates_fit(self) -> None:
        """No unshared address has two agents, no shared one more than its rate."""
        if hasattr(self, "world"):
            self.world.check_exclusive()

    @invariant()
    def seats_fit(self) -> None:
        """There are no more seats than shares."""
        if not hasattr(self, "world"):
            return
        with self.world.db.read() as tx:
            seats = address_rules.seats(tx)
            for row in address_rules.of_rule(tx, "shared"):
                assert sum(one.address == row.address for one in seats) <= row.shares

    def teardown(self) -> None:
        """Close the database."""
        if hasattr(self, "open"):
            self.open.close()


NEW_DATABASE: list[Callable[[], AbstractContextManager[str]]] = []
"""Makes a database for one life, and removes it."""


@contextmanager
def _sqlite(template: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(template, f"{folder}/db")
        yield f"sqlite:///{folder}/db"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def new_database(
    request: pytest.FixtureRequest,
) -> Callable[[], AbstractContextManager[str]]:
    """Return what makes a database for each life."""
    if request.param == "sqlite":
        return partial(_sqlite, request.getfixturevalue("sqlite_template"))
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.new_database


@pytest.mark.parametrize(
    "examples", [5, pytest.param(400, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
def test_no_order_of_events_exceeds_a_rate(
    new_database: Callable[[], AbstractContextManager[str]], examples: int
) -> None:
    """Whatever happens, one agent is at an unshared address, and a shared one gets its rate."""
    NEW_DATABASE[:] = [new_database]
    run_state_machine_as_test(
        SharedAddressLife,
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
