"""Memory at equal hit rate, as the source's figures 9 and 10 count it."""

from __future__ import annotations

from typing import Final

import numpy as np

from benchmarks.dedup.simulate import Mistakes

__all__ = ["SOURCE_LRU_KEY_BYTES", "lru_bytes_for", "most_saved"]

SOURCE_LRU_KEY_BYTES: Final = 20
"""Bytes of a key in an LRU, as the source counts them."""


def lru_bytes_for(hit_rate: float, lru: dict[int, Mistakes], key_bytes: float) -> float | None:
    """Return what an LRU needs for a hit rate, linear between measured sizes; None: not measured.

    lru: by size in keys.
    """
    sizes = sorted(lru)
    rates = [lru[size].hit_rate for size in sizes]
    if not rates[0] <= hit_rate <= rates[-1]:
        return None
    return float(np.interp(hit_rate, rates, sizes)) * key_bytes


def most_saved(
    runs: dict[int, Mistakes], lru: dict[int, Mistakes], key_bytes: float
) -> tuple[float, float] | None:
    """Return the greatest share of an LRU's memory that is saved, and the hit rate there."""
    saved = []
    for run in runs.values():
        needed = lru_bytes_for(run.hit_rate, lru, key_bytes)
        if needed:
            saved.append((1 - run.nbytes / needed, run.hit_rate))
    return max(saved, default=None)
