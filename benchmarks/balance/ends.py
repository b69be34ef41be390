"""The end of the whole crawl: tables, and figures 14 and 15 of seed 004 beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from typing import Final

import numpy as np

from benchmarks.balance.churn import churn
from benchmarks.balance.day import DAY_CASES, day_of, interval_for_all
from benchmarks.balance.real_time import MANY, ONE, Knowledge, Reached, ends_of, probed
from benchmarks.balance.source import (
    ALONE_200_H,
    ALONE_H,
    BALANCED_200_H,
    HOSTS,
    MEASURED_H,
    NAMES,
    THREADS,
)
from benchmarks.balance.splits import measure_splits
from benchmarks.balance.tables import table
from benchmarks.balance.world import World, calibrated_world
from benchmarks.predict import ranked_world
from manager.balancing.forecast.work_duration import Capacity
from shared.windows import Windows

__all__ = ["measure_ends"]

ROUNDS: Final = 30
HOURS: Final = (((0, 1440),), ((120, 480),), ((1200, 120),))
"""Of three agents: always, 02:00 to 08:00, 20:00 to 02:00."""


def measure_ends(*, quick: bool) -> dict[str, object]:
    """Print all tables; return the results by key."""
    hosts = 1_500 if quick else HOSTS
    worlds = _worlds(hosts, 1 if quick else 3)
    found: dict[str, list[Reached]] = {"1": [], "200": []}
    print("\n## End of the crawl, planned by the probes of the same run")
    for label, world in worlds.items():
        for count, capacity in (("1", ONE), ("200", MANY)):
            agents = (capacity,) * len(NAMES)
            reached = ends_of(world, probed(world, agents, 0), agents, 0)
            found[count].append(reached[-1])
            _print(f"{label}, {count} threads", reached)
    first = calibrated_world(0, hosts)
    noisy = probed(first, (ONE,) * 17, 0, noise=0.3)
    _print("source 0, 1 thread, probes with 30% of noise", ends_of(first, noisy, (ONE,) * 17, 0))
    exact = {}
    for count, capacity in (("1", ONE), ("200", MANY)):
        worst = []
        for label, world in worlds.items():
            known = Knowledge(world.distance, np.ones(world.distance.shape, dtype=np.bool_))
            reached = ends_of(world, known, (capacity,) * len(NAMES), 0)
            worst.append(reached[-1])
            _print(f"{label}, {count} threads, every pair probed", reached)
        exact[count] = worst
    _unequal_hours(first)
    speedups = _speedups(first, found["1"][0], found["200"][0])
    _days(first)
    splits = measure_splits(first)
    churned = [
        churn("default", 0, 5 if quick else ROUNDS, capacity=capacity, hosts=hosts)
        for capacity in (ONE, Capacity())
    ]
    moved = max(one.percentile("chosen", 100) for one in churned)
    return {
        "default_over_bound_1": round(max(one.over_bound for one in found["1"]), 4),
        "default_over_bound_200t": round(max(one.over_bound for one in found["200"]), 4),
        **speedups,
        **splits,
        "network_over_cheapest": round(
            max(one.over_cheapest for each in found.values() for one in each), 4
        ),
        "requests_per_page": round(
            max(one.requests_per_page for each in found.values() for one in each), 4
        ),
        "moved_share": round(moved, 4),
        "all_probed_over_bound_1": round(max(one.over_bound for one in exact["1"]), 4),
        "all_probed_over_bound_200t": round(max(one.over_bound for one in exact["200"]), 4),
        "all_probed_network_over_cheapest": round(
            max(one.over_cheapest for each in exact.values() for one in each), 4
        ),
    }


def _worlds(hosts: int, seeds: int) -> Mapping[str, World]:
    worlds = {f"source {seed}": calibrated_world(seed, hosts) for seed in range(seeds)}
    for seed in range(seeds):
        like = worlds[f"source {seed}"]
        distance = np.exp(ranked_world(seed))
        columns = np.arange(len(like.volume_kb)) % distance.shape[1]
        worlds[f"rank 3, {seed}"] = replace(like, distance=distance[:, columns])
    return worlds


def _print(label: str, reached: list[Reached]) -> None:
    print(f"\n{label}")
    table(
        ("method", "hours", "over bound", "network over cheapest", "requests a page"),
        [
            (
                one.method,
                f"{one.end_h:.2f}",
                f"{one.over_bound:.3f}",
                f"{one.over_cheapest:.3f}",
                f"{one.requests_per_page:.3f}",
            )
            for one in reached
        ],
    )


def _unequal_hours(world: World) -> None:
    best = np.argsort(world.hours.sum(axis=1))[:3]
    three = replace(world, distance=world.distance[best])
    for count, capacity in (("1 thread", ONE), ("200 threads", MANY)):
        agents = tuple(replace(capacity, hours=Windows(UTC, each, each)) for each in HOURS)
        _print(
            f"three agents of unequal hours, {count}",
            ends_of(three, probed(three, agents, 0), agents, 0),
        )


def _speedups(world: World, one: Reached, many: Reached) -> dict[str, object]:
    """Print figures 14 and 15, and what explains the differences."""
    alone = world.hours.sum(axis=1)
    alone_200 = np.maximum(alone / THREADS, world.hours.max(axis=1))
    theirs_1, theirs_200 = ALONE_H / MEASURED_H.max(), ALONE_200_H / BALANCED_200_H
    ours_1, ours_200 = alone / one.end_h, alone_200 / many.end_h
    print("\n## Figures 14 and 15: speed-up over each agent alone")
    table(
        ("agent", "1 thread: source", "ours", "200 threads: source", "ours"),
        [
            (name, *(f"{value:.1f}" for value in values))
            for name, *values in zip(NAMES, theirs_1, ours_1, theirs_200, ours_200, strict=True)
        ],
    )
    longest = world.hours.min(axis=0).max()
    print(
        f"\nOne thread: the source ends after {MEASURED_H.max():.1f} h, ours after"
        f" {one.end_h:.1f} h,"
        " because prices use which agent is near to which host; the tree only evens the mean out.\n"
        f"200 threads: ours ends after {many.end_h:.1f} h, the source after {BALANCED_200_H} h. The"
        f" longest host of this world takes {longest:.1f} h where it is nearest, and a host has one"
        " connection: no plan ends before. The largest host of the source was nearer or smaller."
    )
    return {
        "speedup_1": [round(float(ours_1.min()), 1), round(float(ours_1.max()), 1)],
        "speedup_200t": [round(float(ours_200.min()), 1), round(float(ours_200.max()), 1)],
    }


def _days(world: World) -> None:
    print("\n## All in 24 hours (seed 004, 3.1), with waiting")
    rows = []
    for case in DAY_CASES:
        day = day_of(world, case)
        rows.append(
            (
                case.label,
                f"{100 * day.pages:.1f}%",
                f"{100 * day.hosts:.1f}%",
                f"{day.end_h:,.0f}",
            )
        )
    table(("case", "pages in a day", "hosts in a day", "hours of the longest host"), rows)
    print(
        f"\nThe largest host has {int(world.urls.max()):,} pages. All is done in a day where hosts"
        f" as large are asked once in {interval_for_all(world):.2f} s, or give"
        f" {int(np.ceil(world.urls.max() * 20 / 86_400))} pages on a connection in each 20 s"
        " (`burst_requests`), or allow pieces the whole rate each. More agents change nothing."
    )
