"""URLs a second of each structure, and the source's table 1."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from agent.modules.seen.interface import Seen
from benchmarks.dedup.compared import SinglyDecremented, StableBloom
from benchmarks.dedup.stream import Stream

__all__ = ["SOURCE_TABLE_1", "table_1", "urls_per_s"]

SOURCE_TABLE_1: Final = {"sbf": 320.7, "sbfl": 9.435, "sbfl_32": 0.9672}
"""Seconds for 2 * 10^9 decrements of 2^30 counters on a Xeon of 2.66 GHz, one thread."""

SOURCE_DECREMENTS: Final = 2_000_000_000
PAGE_LINKS: Final = 100
FP_RATE, HASHES = 1e-5, 8


def urls_per_s(stream: Stream, make: Callable[[], Seen], links: int, batch: int) -> float:
    """Return links a CPU-second, in batches, after as many to warm up."""
    seen = make()
    keys = stream.keys[: 2 * links].tolist()
    batches = [keys[start : start + batch] for start in range(0, len(keys), batch)]
    half = len(batches) // 2
    for one in batches[:half]:
        seen.meet(one)
    begun = time.process_time()
    for one in batches[half:]:
        seen.meet(one)
    return sum(map(len, batches[half:])) / (time.process_time() - begun)


def table_1(counters: int, share: float) -> dict[str, float]:
    """Return CPU seconds for the source's decrements, as many at once as a page's links cause.

    share: of the decrements that are really done, for the two slow ones; the rest is reckoned.
    """
    light = SinglyDecremented(counters, FP_RATE, HASHES)
    at_once = int(PAGE_LINKS * light.p)
    found = {}
    runs: dict[str, tuple[Callable[[int], None], float, int]] = {
        "sbf": (StableBloom(counters, FP_RATE, HASHES).decrement, share, at_once),
        "sbfl": (light.decrement_singly, share, at_once),
        "sbfl_32": (light.decrement, 1.0, at_once),
        "sbfl_32_in_one_sweep": (light.decrement, 1.0, 1 << 22),
    }
    for name, (decrement, part, step) in runs.items():
        rounds = int(SOURCE_DECREMENTS * part / step)
        decrement(step)
        begun = time.process_time()
        for _ in range(rounds):
            decrement(step)
        took = time.process_time() - begun
        found[name] = took * SOURCE_DECREMENTS / (rounds * step)
    return found
