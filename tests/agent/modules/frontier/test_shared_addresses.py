"""Addresses that many sites share: clocks of domains, rate of the whole, changes of the rule."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.pipeline.shared_addresses import SharedRule, clock_of
from shared.naming.registrable_domain import registrable_domain
from shared.urls import host_of
from tests.agent.fakes import Page
from tests.agent.world import ANY_NAME, TWO_OF_EACH, World, order, site

CDN = "192.0.2.1"
INTERVAL_S = 20.0


def names(count: int) -> list[str]:
    return [f"www.d{number}.example" for number in range(count)]


def world_of(hosts: list[str], **more: object) -> World:
    """Return a world whose hosts are all at one address, two pages each."""
    web: dict[str, Page] = {}
    for name in hosts:
        web |= site(name, 2)
    world = World(web, **more)  # type: ignore[arg-type]  # the caller's keywords are World's
    world.resolver_addresses |= {f"http://{name}:80/": (CDN,) for name in hosts}
    world.give_list([order(f"http://{name}:80/") for name in hosts])
    return world


def share(world: World, rule: SharedRule | None) -> None:
    world.shared = {} if rule is None else {CDN: rule}
    world.crawl.set_shared(world.shared)


def starts(world: World) -> list[tuple[float, str]]:
    """Return (moment, domain) of each request, in order."""
    return [
        (when, registrable_domain(host_of(url))) for when, at, url in world.started if at == CDN
    ]


def gaps(times: list[float]) -> list[float]:
    return [later - before for before, later in pairwise(times)]


def by_domain(found: list[tuple[float, str]]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    for when, domain in found:
        times.setdefault(domain, []).append(when)
    return times


@pytest.mark.parametrize("partitions", [{}, TWO_OF_EACH])
@pytest.mark.parametrize("in_memory", [1, 5000])
def test_domains_have_clocks_within_the_rate_of_the_whole(
    partitions: dict[str, int], in_memory: int
) -> None:
    """25 domains: five times the rate of one clock, and no domain is asked more often."""
    world = world_of(
        names(25), partitions=partitions, limits=replace(ANY_NAME, addresses_in_memory=in_memory)
    )
    share(world, SharedRule(25))
    world.run()
    found = starts(world)
    assert len(found) == 75
    assert {unit.reason for unit in world.reports.units} == {"complete"}
    assert min(gaps([when for when, _ in found])) >= INTERVAL_S / 5 - 1e-6
    for times in by_domain(found).values():
        assert min(gaps(times)) >= INTERVAL_S / 2  # fast hosts
    span_s = found[-1][0] - found[0][0]
    assert span_s < 75 * INTERVAL_S / 5 * 1.5


def test_hosts_of_one_domain_share_its_clock() -> None:
    """`a.d0.example` and `www.d0.example` take turns."""
    world = world_of([*names(9), "a.d0.example"])
    share(world, SharedRule(9))
    world.run()
    assert min(gaps(by_domain(starts(world))["d0.example"])) >= INTERVAL_S / 2


def test_an_agent_keeps_its_share_of_the_rate() -> None:
    """Of three agents each rests three times as long."""
    world = world_of(names(16))
    share(world, SharedRule(16, shares=3))
    world.run()
    assert min(gaps([when for when, _ in starts(world)])) >= 3 * INTERVAL_S / 4 - 1e-6


def test_trouble_of_one_host_slows_the_whole_address_down_and_it_recovers() -> None:
    """A 429 doubles the interval of all domains for a while."""
    world = world_of(names(36))
    world.web["http://www.d0.example/"] = Page(status=429)
    share(world, SharedRule(36))
    world.run()
    between = gaps([when for when, _ in starts(world)])
    usual_s = INTERVAL_S / 6
    assert min(between) >= usual_s - 1e-6
    assert sum(gap >= 2 * usual_s - 1e-6 for gap in between) >= 8
    assert between[-1] < 2 * usual_s or sum(gap < 2 * usual_s for gap in between[-40:]) >= 8


def test_slow_answers_slow_the_whole_address_down() -> None:
    """Ten times four seconds are the interval then, over the root of the domains."""
    world = world_of(names(16))
    for url, page in world.web.items():
        world.web[url] = replace(page, elapsed_ms=4000.0)
    share(world, SharedRule(16))
    world.run()
    between = gaps([when for when, _ in starts(world)])
    assert min(between[4:]) >= 10 * 4 / 4 - 1e-6


def test_a_restart_keeps_the_back_off_of_the_whole_address() -> None:
    """The next process begins with the strikes of this one."""
    world = world_of(names(16))
    for name in names(16):
        world.web[f"http://{name}/robots.txt"] = Page(status=503)
    share(world, SharedRule(16))
    for _ in range(120):
        while world.complete():
            pass
        world.tick(1.0)
    (before,) = [gate.strikes for one in world.crawl._frontiers for gate in one._registry.gates]
    assert before >= 2
    world.ledger.commit()
    world.crash()
    for _ in range(30):
        world.tick(1.0)
    kept = [gate.strikes for one in world.crawl._frontiers for gate in one._registry.gates]
    assert kept == [before] or kept[0] >= before


changes = st.lists(
    st.tuples(
        st.sampled_from([None, SharedRule(4), SharedRule(9, 2), SharedRule(16)]),
        st.integers(0, 40),
        st.sampled_from(["answer", "hold", "crash", "last"]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize(
    "examples", [12, pytest.param(2000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
def test_no_change_of_the_rule_breaks_an_interval(examples: int) -> None:
    """At any moment and in any order, over restarts, with requests under way meanwhile."""

    @settings(max_examples=examples, deadline=None)
    @given(life=changes, two=st.booleans(), in_memory=st.sampled_from([0, 1, 5000]))
    def live(life: list[tuple[SharedRule | None, int, str]], two: bool, in_memory: int) -> None:
        _live(life, two, in_memory)

    live()


def _live(life: list[tuple[SharedRule | None, int, str]], two: bool, in_memory: int) -> None:
    hosts = [*names(8), "a.d0.example", "b.d1.example"]
    world = world_of(
        hosts,
        partitions=TWO_OF_EACH if two else {},
        limits=replace(ANY_NAME, addresses_in_memory=in_memory),
    )
    rule: SharedRule | None = None
    rules: list[tuple[int, SharedRule | None]] = [(0, None)]  # from which request on
    for wanted, seconds, how in life:
        rule = wanted
        share(world, rule)
        world.tick(0.0)
        world.runner.run_until_settled()
        rules.append((len(starts(world)), rule))
        for _ in range(seconds):
            if how != "hold":
                while world.complete((lambda count: count - 1) if how == "last" else (lambda n: 0)):
                    pass
            world.tick(1.0)
        if how == "crash":
            world.ledger.commit()
            world.crash()
    world.run()
    assert not world.open_jobs
    _check(starts(world), rules)
    for row in world.ledger.jobs():
        host = row.host
        assert row.address == clock_of(CDN, host, {} if rule is None else {CDN: rule})


def _check(found: list[tuple[float, str]], rules: list[tuple[int, SharedRule | None]]) -> None:
    for times in by_domain(found).values():
        assert min(gaps(times), default=math.inf) >= INTERVAL_S / 2 - 1e-6
    number = 0
    for at, (before, later) in enumerate(pairwise(when for when, _ in found), 1):
        while number + 1 < len(rules) and rules[number + 1][0] <= at:
            number += 1
        rule = rules[number][1]
        if rule is None:
            least_s = INTERVAL_S / 2
        else:
            least_s = INTERVAL_S / math.sqrt(rule.domains) * rule.shares
        if rules[number][0] == at:
            continue  # the first one under a rule: judged by the domain, and below
        assert later - before >= least_s - 1e-6, (at, rule, later - before)
