"""Crawls sites behind two addresses in fake time; the last line is `RESULT` and JSON.

5,000 names of 3,000 domains, each at two addresses, with four agents; and 40 names at one slow
address. The modules of the agent are the real ones, the network is made up. Before: the names are
one group at one agent, and each address is one clock. Requests are judged by when they reach the
addresses, from all agents together.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from agent.modules.limits import Politeness
from agent.pipeline.shared_addresses import SharedRule, SharedRules
from manager.assignment.groups import AddressGroups
from manager.assignment.host_shares import most_requests
from manager.assignment.shared_addresses import clock, whole_interval_s
from shared.naming.registrable_domain import registrable_domain
from tests.agent.fakes import FakeClock, Page
from tests.agent.world import ANY_NAME, World, order

ADDRESSES = ("192.0.2.1", "192.0.2.2")
FARM = "192.0.2.3"
INTERVAL_S, LEAST_S = 20.0, 0.2
SPAN_S = 600
BEGAN_S = FakeClock().now_s
SOON_S, SHORTEST_S = 2.0, 0.01  # the wheel knows the moment of what is due so soon
# As of every host: none is among the fastest fifth.
LIMITS = replace(ANY_NAME, gap_s=math.inf)  # fake time advances in steps of any length
POLITENESS = Politeness(fast_interval_s=INTERVAL_S)


def crawl(
    names: list[str], at: Sequence[tuple[str, ...]], rules: SharedRules, slow_s: float
) -> World:
    """Crawl the top page of each name to the end, as one agent."""
    web = {}
    for name in names:
        web[f"http://{name}/"] = Page(elapsed_ms=slow_s * 1000)
        web[f"http://{name}/robots.txt"] = Page(status=404, elapsed_ms=slow_s * 1000)
    world = World(web, LIMITS, POLITENESS, shared=rules)
    keys = [f"http://{name}:80/" for name in names]
    world.resolver_addresses |= dict(zip(keys, at, strict=True))
    world.give_list(map(order, keys))
    while True:
        while world.complete():
            pass
        now_s = world.clock.now_s
        next_s = min(world.crawl.next_s(SOON_S), now_s + SOON_S)
        world.tick(max(SHORTEST_S, next_s - now_s))
        if not world.fetcher.flights and not world.crawl.state().jobs:
            return world


def most_per_s(times: list[float]) -> float:
    """Return the most requests in a second, over spans of ten minutes."""
    times.sort()
    first, most = 0, 0
    for last, when in enumerate(times):
        while when - times[first] > SPAN_S:
            first += 1
        most = max(most, last - first + 1)
    return most / SPAN_S


def allowed_per_s(interval_s: float, agents: int) -> float:
    """Return how many requests a second may come in such a span, from all agents together."""
    return most_requests(SPAN_S * 1000, math.ceil(interval_s * 1000 - 1e-6), agents) / SPAN_S


def main() -> None:
    """Run both webs and print the figures."""
    options = argparse.ArgumentParser()
    options.add_argument("--names", type=int, default=5000)
    options.add_argument("--domains", type=int, default=3000)
    options.add_argument("--agents", type=int, default=4)
    asked = options.parse_args()
    names = [f"www{n // asked.domains}.d{n % asked.domains}.example" for n in range(asked.names)]
    at = [ADDRESSES if n // asked.agents % 2 else ADDRESSES[::-1] for n in range(asked.names)]
    before = crawl(names, at, {}, 0.0)
    before_s = max(when for when, _, _ in before.started) - BEGAN_S
    rules = {one: SharedRule(asked.domains, asked.agents, LEAST_S) for one in ADDRESSES}
    parts = [n % asked.domains % asked.agents for n in range(asked.names)]
    worlds = [
        crawl(
            [name for name, part in zip(names, parts, strict=True) if part == agent],
            [one for one, part in zip(at, parts, strict=True) if part == agent],
            rules,
            0.0,
        )
        for agent in range(asked.agents)
    ]
    after_s = max(when for world in worlds for when, _, _ in world.started) - BEGAN_S
    whole_s = whole_interval_s(INTERVAL_S, asked.domains, LEAST_S)
    most = max(
        most_per_s([when for world in worlds for when, at, _ in world.started if at == address])
        for address in ADDRESSES
    )
    groups = AddressGroups(
        (n, clock(address, registrable_domain(f"http://{name}:80/"), shared=True))
        for n, name in enumerate(names)
        for address in ADDRESSES
    )
    sizes = Counter(groups.group_of(n) for n in range(asked.names))
    farm_names = [f"www.f{n}.example" for n in range(40)]
    farm = crawl(farm_names, [(FARM,)] * 40, {FARM: SharedRule(40, 1, LEAST_S)}, 4.0)
    farm_s = whole_interval_s(max(INTERVAL_S, 4.0 * POLITENESS.times_last), 40, LEAST_S)
    result = {
        "hosts_per_hour": asked.names / after_s * 3600,
        "hosts_per_hour_before": asked.names / before_s * 3600,
        "times": before_s / after_s,
        "most_per_s_at_an_address": most,
        "allowed_per_s": allowed_per_s(whole_s, asked.agents),
        "largest_group": max(sizes.values()),
        "largest_group_before": asked.names,
        "farm_most_per_s": most_per_s([when for when, _, _ in farm.started][1:]),
        "farm_allowed_per_s": allowed_per_s(farm_s, 1),
    }
    for name, value in result.items():
        print(f"{name:28} {value:12,.3f}")
    print("RESULT", json.dumps({name: round(value, 3) for name, value in result.items()}))


if __name__ == "__main__":
    main()
