"""Bad days: thousands of hosts at one address, and hosts that all fail.

bench-shared and bench-frontier have 10,000 and 50,000 of them, before a whole agent.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import cycle, pairwise

import pytest

from agent.modules.frontier.dispatch import ARRIVALS_A_TICK
from agent.modules.limits import Politeness
from agent.pipeline.shared_addresses import SharedRule
from shared.urls import host_of
from tests.agent.fakes import Page
from tests.agent.world import ANY_NAME, World, order

AT = "192.0.2.1"
INTERVAL_S, STEP_S = 20.0, 1.0
IN_MEMORY = 50
PARALLEL = 40
# None is among the fastest fifth of the hosts, and time advances in steps of any length.
LIMITS = replace(ANY_NAME, gap_s=math.inf, addresses_in_memory=IN_MEMORY, parallel=PARALLEL)
POLITENESS = Politeness(interval_s=INTERVAL_S, fast_interval_s=INTERVAL_S)
FAILURES = (
    Page(status=503),
    Page(outcome="refused"),
    Page(status=500),
    Page(outcome="timeout"),
    Page(outcome="disconnected"),
    Page(status=429, retry_after_s=100_000.0),
)


def keys(count: int, domains: int) -> list[str]:
    return [f"http://www{n}.d{n % domains}.example:80/" for n in range(count)]


def loaded(world: World) -> int:
    """Return how many addresses are in memory."""
    (frontier,) = world.crawl._frontiers
    return len(frontier._registry.addresses)


def run(world: World, seconds: float) -> int:
    """Crawl for a while; return how many addresses were in memory at most, beside requests.

    First turns bring so many into memory at once, and out of it by the next tick.
    """
    most = 0
    end_s = world.clock.now_s + seconds
    while world.clock.now_s < end_s:
        while world.complete():
            pass
        world.tick(STEP_S)
        world.ledger.commit()
        most = max(most, loaded(world) - len(world.fetcher.flights))
    assert most <= IN_MEMORY + ARRIVALS_A_TICK
    return most


@pytest.mark.parametrize("hosts", [3_000, pytest.param(6_000, marks=pytest.mark.slow)])
def test_hosts_that_all_fail_are_each_tried_in_time(hosts: int) -> None:
    """However they fail. A host that is tried again takes no turn of one that was not tried."""
    web: dict[str, Page] = {}
    hosts_of = keys(hosts, hosts)
    for key, page in zip(hosts_of, cycle(FAILURES), strict=False):
        name = key.removesuffix(":80/")
        web |= {f"{name}/": page, f"{name}/robots.txt": page}
    parallel = max(PARALLEL, hosts // 25)
    world = World(web, replace(LIMITS, parallel=parallel), POLITENESS)
    world.resolver_addresses |= {
        key: (f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}",) for n, key in enumerate(hosts_of)
    }
    begun_s = world.clock.now_s
    world.give_list(map(order, hosts_of))
    ideal_s = max(hosts * STEP_S / parallel, INTERVAL_S)
    run(world, 1.2 * ideal_s + INTERVAL_S)  # an address rests before its first request
    first_s: dict[str, float] = {}
    for when, _, url in world.started:
        first_s.setdefault(host_of(url), when - begun_s)
    assert len(first_s) == hosts
    assert max(first_s.values()) <= 1.2 * ideal_s + INTERVAL_S


@pytest.mark.parametrize("hosts", [400, pytest.param(1_500, marks=pytest.mark.slow)])
def test_hosts_of_few_domains_at_one_address_have_its_clock(hosts: int) -> None:
    """As many as there are: one object in memory, one request an interval, and each has a turn."""
    world = World({}, LIMITS, POLITENESS)
    every = keys(hosts, 10)
    world.resolver_addresses |= dict.fromkeys(every, (AT,))
    world.give_list(map(order, every))
    most = run(world, hosts * (INTERVAL_S + STEP_S) * 2)
    times = [when for when, at, _ in world.started if at == AT]
    assert min(later - before for before, later in pairwise(times)) >= INTERVAL_S
    assert most == 1
    assert len({host_of(url) for _, _, url in world.started}) >= 0.9 * hosts
    assert {url for _, _, url in world.started if not url.endswith("robots.txt")}


@pytest.mark.parametrize("hosts", [3_000, pytest.param(6_000, marks=pytest.mark.slow)])
def test_hosts_of_as_many_domains_at_a_shared_address_keep_its_rate(hosts: int) -> None:
    """Clocks wait at the gate, out of memory; each domain has its interval too."""
    rule = SharedRule(hosts, 1, 0.2)
    world = World({}, LIMITS, POLITENESS, shared={AT: rule})
    every = keys(hosts, hosts)
    world.resolver_addresses |= dict.fromkeys(every, (AT,))
    world.give_list(map(order, every))
    whole_s = max(INTERVAL_S / math.sqrt(hosts), 0.2)
    run(world, 200 * STEP_S)
    times = [when for when, at, _ in world.started if at == AT]
    assert min(later - before for before, later in pairwise(times)) >= whole_s
    assert len(times) >= 100
    assert loaded(world) <= IN_MEMORY + 1
    of_host: dict[str, list[float]] = {}
    for when, _, url in world.started:
        of_host.setdefault(host_of(url), []).append(when)
    for moments in of_host.values():
        assert all(later - before >= INTERVAL_S for before, later in pairwise(moments))
