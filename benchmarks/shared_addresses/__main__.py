"""Crawls sites behind two addresses that they share; the last line is `RESULT` and JSON.

5,000 names of 3,000 domains at two addresses, with four agents; and 40 names at one slow address.

`fake`: the modules of the agent are the real ones, time and network are made up, each name is at
both addresses. Before: the names are one group at one agent, and each address is one clock.
Requests are judged by when they reach the addresses, from all agents together.
`live`, `farm`: the shipped programs by the clock (live.py).
`crowd`: 10,000 names at one address before one agent, of few domains and of as many.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent.modules.limits import Politeness
from agent.pipeline.shared_addresses import SharedRule, SharedRules
from benchmarks.shared_addresses.live import crawl_crowd, crawl_farm, crawl_names
from benchmarks.shared_addresses.rates import allowed_per_s, most_per_s
from manager.assignment.groups import AddressGroups
from manager.assignment.shared_addresses import clock, whole_interval_s
from shared.naming.registrable_domain import registrable_domain
from tests.agent.fakes import FakeClock, Page
from tests.agent.world import ANY_NAME, World, order

PARTS = ("fake", "live", "farm", "crowd")
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


def in_fake_time(count: int, domains: int, agents: int) -> dict[str, float]:
    """Crawl names at two addresses, and forty at one slow address."""
    names = [f"www{n // domains}.d{n % domains}.example" for n in range(count)]
    at = [ADDRESSES if n // agents % 2 else ADDRESSES[::-1] for n in range(count)]
    before = crawl(names, at, {}, 0.0)
    before_s = max(when for when, _, _ in before.started) - BEGAN_S
    rules = {one: SharedRule(domains, agents, LEAST_S) for one in ADDRESSES}
    parts = [n % domains % agents for n in range(count)]
    worlds = [
        crawl(
            [name for name, part in zip(names, parts, strict=True) if part == agent],
            [one for one, part in zip(at, parts, strict=True) if part == agent],
            rules,
            0.0,
        )
        for agent in range(agents)
    ]
    after_s = max(when for world in worlds for when, _, _ in world.started) - BEGAN_S
    whole_s = whole_interval_s(INTERVAL_S, domains, LEAST_S)
    most = max(
        most_per_s(
            [when for world in worlds for when, at, _ in world.started if at == address], SPAN_S
        )
        for address in ADDRESSES
    )
    groups = AddressGroups(
        (n, clock(address, registrable_domain(f"http://{name}:80/"), shared=True))
        for n, name in enumerate(names)
        for address in ADDRESSES
    )
    sizes = Counter(groups.group_of(n) for n in range(count))
    farm_names = [f"www.f{n}.example" for n in range(40)]
    farm = crawl(farm_names, [(FARM,)] * 40, {FARM: SharedRule(40, 1, LEAST_S)}, 4.0)
    farm_s = whole_interval_s(max(INTERVAL_S, 4.0 * POLITENESS.times_last), 40, LEAST_S)
    return {
        "hosts_per_hour": count / after_s * 3600,
        "hosts_per_hour_before": count / before_s * 3600,
        "times": before_s / after_s,
        "most_per_s_at_an_address": most,
        "allowed_per_s": allowed_per_s(whole_s, agents, SPAN_S),
        "largest_group": max(sizes.values()),
        "largest_group_before": count,
        "farm_most_per_s": most_per_s([when for when, _, _ in farm.started][1:], SPAN_S),
        "farm_allowed_per_s": allowed_per_s(farm_s, 1, SPAN_S),
    }


def main() -> None:
    """Run the parts and print the figures."""
    options = argparse.ArgumentParser(prog="benchmarks.shared_addresses")
    options.add_argument("--names", type=int, default=5000)
    options.add_argument("--domains", type=int, default=3000)
    options.add_argument("--agents", type=int, default=4)
    options.add_argument("--crowd", type=int, default=10_000, help="names at one address")
    options.add_argument("--before-s", type=float, default=60.0, help="of the live crawl before")
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    asked = options.parse_args()
    # Ended by SIGTERM, it ends its programs too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    result: dict[str, float] = {"load_before": os.getloadavg()[0]}
    if "fake" in asked.parts:
        result |= in_fake_time(asked.names, asked.domains, asked.agents)
    with tempfile.TemporaryDirectory(prefix="prsm-shared-") as folder:
        if "live" in asked.parts:
            names, domains, agents = asked.names, asked.domains, asked.agents
            result |= crawl_names(names, domains, agents, asked.before_s, Path(folder))
        if "farm" in asked.parts:
            result |= crawl_farm(asked.agents, Path(folder))
        if "crowd" in asked.parts:
            result |= crawl_crowd(asked.crowd, Path(folder))
    for name, value in result.items():
        print(f"{name:34} {value:12,.3f}")
    print("RESULT", json.dumps({name: round(value, 3) for name, value in result.items()}))


if __name__ == "__main__":
    main()
