"""End of the whole crawl with hosts whole, and with the splits that pay, over the bound.

Agents as by default, each host at its nearest; directories of a host have Zipf's sizes. The bound
without splits is the longest host at its nearest agent. With splits no host ends before its
requests times its pause, nor before its largest directory at the nearest agent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from benchmarks.balance.tables import table
from benchmarks.balance.world import HOUR_MS, World
from manager.balancing.forecast.agent_load import AgentLoad, CrawlForecast, HostPart
from manager.balancing.forecast.predictor import address_loads, fast_threshold
from manager.balancing.forecast.split_forecast import PieceSize, SplitChoice, choose_splits
from manager.balancing.forecast.work_duration import DEFAULT_CAPACITY, Capacity
from manager.balancing.pieces import cut

__all__ = ["measure_splits"]

DIRECTORIES: Final = 60
COUNTS: Final = (2, 3, 4, 6, 8)
ERROR: Final = 0.15
WAIT_MS: Final = 120_000.0
MOST: Final = 20


@dataclass(frozen=True)
class Case:
    """pause_s: between two requests of all agents together; None: as the owner keeps it."""

    label: str
    agent: Capacity = DEFAULT_CAPACITY
    pause_s: float | None = None


QUICK: Final = Capacity(interval_ms=1000, fast_interval_ms=1000, delay_factor=0)
CASES: Final = (
    Case("interval 20 s, as by default"),
    Case("a person allows hosts in pieces 5 s", pause_s=5),
    Case("a person allows hosts in pieces 2.5 s", pause_s=2.5),
    Case("interval 1 s", QUICK),
    Case("no rest but 0.1 s", replace(QUICK, interval_ms=100, fast_interval_ms=100)),
    Case(
        "1 MB/s an agent, 0.1 s",
        replace(QUICK, interval_ms=100, fast_interval_ms=100, bytes_per_s=1_000_000),
    ),
)


def measure_splits(world: World) -> dict[str, object]:
    """Print a table; return the worst results by key."""
    rows, whole, split = [], [], []
    for case in CASES:
        began = time.perf_counter()
        now, ways = _crawl(world, case)
        steps = choose_splits(now, ways, error=ERROR, wait_ms=WAIT_MS, most=MOST)
        took_s = time.perf_counter() - began
        end_ms = steps[-1].end_ms if steps else now.end_ms
        bound_ms, least_ms = _bounds(world, case, now, split=bool(steps))
        whole.append(now.end_ms / bound_ms)
        split.append(end_ms / least_ms)
        rows.append(
            (
                case.label,
                f"{now.end_ms / HOUR_MS:.1f}",
                f"{whole[-1]:.3f}",
                str(len(steps)),
                f"{end_ms / HOUR_MS:.1f}",
                f"{split[-1]:.3f}",
                f"{took_s:.2f}",
            )
        )
    print("\n## Splits that pay")
    table(
        (
            "case",
            "hours, whole",
            "over bound",
            "hosts split",
            "hours, split",
            "over bound of pieces",
            "seconds",
        ),
        rows,
    )
    return {
        "whole_over_bound": round(max(whole), 4),
        "split_over_bound": round(max(split), 4),
        "split_gain": [round(float(one[1]) / float(one[4]), 2) for one in rows],
        "hosts_split": [int(one[3]) for one in rows],
    }


def _crawl(
    world: World, case: Case
) -> tuple[CrawlForecast, Callable[[int, int], Sequence[SplitChoice]]]:
    """Return the crawl with whole hosts, and the ways to split one."""
    nearest = world.distance.argmin(axis=0)
    transfer = world.distance * world.volume_kb
    loads = {}
    for agent in range(len(world.distance)):
        mine = np.flatnonzero(nearest == agent)
        fast = fast_threshold(transfer[agent], world.volume_kb, case.agent)
        load = address_loads(
            transfer[agent, mine],
            world.urls[mine],
            world.volume_kb[mine],
            np.zeros(len(mine)),
            np.arange(len(mine), dtype=np.intp),
            len(mine),
            case.agent,
            fast,
        )
        loads[agent] = AgentLoad(case.agent, fast, mine.astype(np.intp), load)

    def ways(host: int, owner: int) -> Sequence[SplitChoice]:
        """Return the ways to split a host among its nearest agents."""
        part = HostPart(
            float(world.urls[host]), float(world.volume_kb[host]), float(transfer[owner, host])
        )
        pause_ms = _pause_ms(case, loads[owner], part)
        taking = np.argsort(world.distance[:, host])
        return [_choice(world, host, owner, pause_ms, taking[:count]) for count in COUNTS]

    return CrawlForecast.of(loads, 0), ways


def _pause_ms(case: Case, load: AgentLoad, part: HostPart) -> float:
    return load.pause_ms(part) if case.pause_s is None else case.pause_s * 1000


def _sizes(host: int) -> dict[str, float]:
    """Return the shares of a host's directories."""
    shares = 1 / np.arange(1, DIRECTORIES + 1)
    order = np.random.default_rng(host).permutation(DIRECTORIES)
    return {
        f"/{number}/": float(share)
        for number, share in zip(order.tolist(), shares / shares.sum(), strict=True)
    }


def _choice(
    world: World,
    host: int,
    owner: int,
    pause_ms: float,
    taking: np.ndarray[tuple[int], np.dtype[np.intp]],
) -> SplitChoice:
    made = cut(_sizes(host), len(taking))
    pieces = tuple(
        PieceSize(
            int(agent),
            float(world.urls[host]) * share,
            float(world.volume_kb[host]) * share,
            float(world.volume_kb[host] * world.distance[agent, host]) * share,
        )
        for agent, share in zip(taking, made.weights, strict=False)
    )
    return SplitChoice(host, owner, pause_ms, pieces)


def _bounds(world: World, case: Case, now: CrawlForecast, *, split: bool) -> tuple[float, float]:
    """Return the bounds of the end with whole hosts, and with hosts in pieces."""
    whole, pieces = 0.0, 0.0
    largest = max(_sizes(0).values())
    for load in now.loads.values():
        alone = load.alone_ms(load.load)
        for at, host in enumerate(load.address.tolist()):
            part = HostPart(
                float(world.urls[host]), float(world.volume_kb[host]), float(load.load.busy_ms[at])
            )
            rate = part.requests * _pause_ms(case, load, part)
            directory = load.alone(
                HostPart(
                    part.requests * largest, part.volume_kb * largest, part.transfer_ms * largest
                )
            )
            least = max(rate, float(load.alone_ms(directory)[0]))
            pieces = max(pieces, min(float(alone[at]), least))
        whole = max(whole, float(alone.max(initial=0.0)))
    return whole, pieces if split else whole
