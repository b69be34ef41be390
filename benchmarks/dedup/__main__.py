"""Runs the experiment: `make bench-dedup`.

All sizes of seed 003 are divided by as much as its stream of links is: with 2^24 links by 256, so
an LRU of 2^18 to 2^24 keys becomes one of 2^10 to 2^16, and 2^24 to 2^30 counters become 2^16 to
2^22. Speeds and table 1 are measured at full size.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from agent.modules.seen.bloom import RotatingBloom, StableBloomLight
from agent.modules.seen.buckets import Buckets
from agent.modules.seen.interface import Filter, Seen
from agent.modules.seen.lru import Generations, Layered, Lru
from agent.modules.seen.pairs import Pairs
from benchmarks.dedup.compared import Exact, StableBloom
from benchmarks.dedup.crawl import us_per_link
from benchmarks.dedup.ledger_savings import SOURCE_LRU_KEY_BYTES, most_saved
from benchmarks.dedup.report import Runs, draw_all, print_crawl, print_runs, print_table_1
from benchmarks.dedup.simulate import Mistakes, behind_front, make_front, run_alone
from benchmarks.dedup.speed import SOURCE_TABLE_1, table_1, urls_per_s
from benchmarks.dedup.stream import SOURCE_LINKS, Stream, make_stream

LRU, FRONT, COUNTERS = range(18, 25), 20, range(24, 31)
"""Exponents of two, as in the source."""

TABLES = range(18, 27)
PAGE = 128

FILTERS: dict[str, Callable[[int], Filter]] = {
    "lru+sbf k=4 1%": lambda m: StableBloom(m, 0.01, 4),
    "lru+sbfl k=4 1%": lambda m: StableBloomLight(m, 0.01, 4),
    "lru+sbfl k=8 0.001%": lambda m: StableBloomLight(m, 1e-5, 8),
    "lru+rotating 1%": lambda m: RotatingBloom(m // 4, 0.01),
    "lru+rotating 0.001%": lambda m: RotatingBloom(m // 4, 1e-5),
}
TABLES_OF: dict[str, Callable[[int], Seen]] = {
    "generations": Generations,
    "pairs": Pairs,
    "buckets 64": Buckets,
    "buckets 32": lambda size: Buckets(size, 32),
}
SPEED_KEYS = 1 << 20
SPEED_COUNTERS = 1 << 24


def main() -> None:
    """Measure, print, draw."""
    options = _options()
    down = round(math.log2(SOURCE_LINKS / options.links))
    stream = make_stream(options.links, seed=1)
    print(
        f"{stream.keys.size} links to {stream.distinct} targets; sizes are the source's / 2^{down}"
    )
    runs = _runs(stream, down)
    print_runs(runs)
    speeds = _speeds(make_stream(options.speed_links * 2, seed=2), options.speed_links)
    decrements = table_1(1 << options.counters, options.share)
    print_table_1(decrements)
    crawl = us_per_link(stream, options.crawl_links, options.seen, options.known)
    print_crawl(crawl)
    draw_all(options.folder, runs)
    print(f"figures: {options.folder}; load {os.getloadavg()[0]:.1f}")
    print("RESULT", json.dumps(_result(runs, speeds, decrements, crawl, down)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.dedup")
    parser.add_argument("--links", type=int, default=1 << 24, help="of the stream")
    parser.add_argument("--speed-links", type=int, default=1_000_000)
    parser.add_argument("--crawl-links", type=int, default=300_000)
    parser.add_argument("--known", type=int, default=1_000_000, help="in the exact set before")
    parser.add_argument("--seen", type=int, default=1 << 16, help="keys before the exact set")
    parser.add_argument("--counters", type=int, default=30, help="of table 1: 2^n")
    parser.add_argument("--share", type=float, default=0.01, help="of table 1's slow decrements")
    parser.add_argument("--folder", type=Path, default=Path("build/bench-dedup"))
    return parser.parse_args()


def _runs(stream: Stream, down: int) -> Runs:
    def sizes(exponents: Iterable[int]) -> list[int]:
        return [1 << max(4, exponent - down) for exponent in exponents]

    runs: Runs = {"lru": {}}
    for size in sizes(LRU):
        run = run_alone(stream, Lru(size))
        runs["lru"][size] = replace(run, nbytes=size * SOURCE_LRU_KEY_BYTES)
    for name, make_table in TABLES_OF.items():
        runs[name] = {
            size: run_alone(stream, make_table(size), batch=PAGE) for size in sizes(TABLES)
        }
    (front_size,) = sizes([FRONT])
    front = make_front(stream, front_size)
    front_bytes = front_size * SOURCE_LRU_KEY_BYTES
    for name, make_filter in FILTERS.items():
        runs[name] = {
            counters: behind_front(front, make_filter(counters), front_bytes)
            for counters in sizes(COUNTERS)
        }
    runs["exact"] = {stream.distinct: run_alone(stream, Exact())}
    return runs


def _layered(make: Callable[[int], Filter]) -> Seen:
    return Layered(SPEED_KEYS >> 4, make(SPEED_COUNTERS))


def _speeds(stream: Stream, links: int) -> dict[str, dict[str, float]]:
    makers: dict[str, Callable[[], Seen]] = {
        "lru": lambda: Lru(SPEED_KEYS),
        **{name: partial(make, SPEED_KEYS) for name, make in TABLES_OF.items()},
        **{name: partial(_layered, make) for name, make in FILTERS.items()},
        "exact": Exact,
    }
    found = {}
    print("URLs a CPU-second, in calls of       10        100       1000")
    for name, make in makers.items():
        found[name] = {
            str(batch): float(
                round(urls_per_s(stream, make, links // (10 if batch < 100 else 1), batch))
            )
            for batch in (10, 100, 1000)
        }
        print(f"  {name:26}" + "".join(f"{value:>11.0f}" for value in found[name].values()))
    print()
    return found


def _result(
    runs: Runs,
    speeds: dict[str, dict[str, float]],
    decrements: dict[str, float],
    crawl: dict[str, dict[str, float]],
    down: int,
) -> dict[str, object]:
    """Return the figures: of each structure, the largest run within the source's memory."""
    budget = (SOURCE_LRU_KEY_BYTES << FRONT) + (1 << COUNTERS[-1] - 2) >> down
    structures: dict[str, object] = {}
    for name, sizes in runs.items():
        within = [run for run in sizes.values() if run.nbytes <= budget * 1.01]
        best: Mistakes = max(within or list(sizes.values()), key=lambda run: run.nbytes)
        saved = most_saved(sizes, runs["lru"], SOURCE_LRU_KEY_BYTES)
        structures[name] = {
            "hit_rate": round(best.hit_rate, 4),
            "fp_rate": best.fp_rate,
            "bytes": best.nbytes,
            "urls_per_s": speeds[name]["100"],
            "memory_saved_at_equal_hit_rate": round(saved[0], 3) if saved else None,
            "at_hit_rate": round(saved[1], 4) if saved else None,
        }
    return {
        "benchmark": "dedup",
        "sizes_divided_by": 1 << down,
        "structures": structures,
        "source_saved": 0.63,
        "table_1_s": {name: round(value, 3) for name, value in decrements.items()},
        "table_1_source_s": SOURCE_TABLE_1,
        "before_the_exact_set": {
            name: {key: round(value, 3) for key, value in figures.items()}
            for name, figures in crawl.items()
        },
        "load": round(os.getloadavg()[0], 1),
    }


if __name__ == "__main__":
    main()
