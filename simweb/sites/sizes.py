"""Sizes of hosts: lognormal with an exact total.

Quantiles are drawn one from each of `count` equal slices, so that a world of 300 hosts has the
shape of a world of 6,500: with independent draws the largest host alone would decide the mean.
Calibration (source 004 through design 4): URLs per host have median 82 and mean 716, sigma 2.08;
bytes per host have sigma 2.146, which puts 42% of the bytes into the top 1% of hosts.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from shared.errors import SettingError
from simweb.sites.chance import draw, normal, shuffled

__all__ = ["bytes_per_page", "pages_per_host"]

_NORMAL = NormalDist()


def pages_per_host(count: int, total: int, sigma: float, largest: int, seed: int) -> list[int]:
    """Return `count` sizes, each in 1..largest, that add up to exactly `total`."""
    if not count <= total <= count * largest:
        raise SettingError(
            f"--pages-mean gives {total} pages: {count} hosts of 1 to {largest} pages hold "
            f"{count} to {count * largest}; change --pages-mean or --pages-max"
        )
    weights = [
        math.exp(sigma * _NORMAL.inv_cdf((slot + _inside(draw(seed, "size", slot))) / count))
        for slot in range(count)
    ]
    sizes = _scaled(weights, total, largest)
    _spread_remainder(sizes, total, largest)
    order = shuffled(count, seed, "size-order")
    return [sizes[slot] for slot in order]


def bytes_per_page(mean: float, pages_sigma: float, bytes_sigma: float, key: int) -> float:
    """Draw a host's mean page size so that bytes per host have `bytes_sigma` over all hosts."""
    sigma = math.sqrt(max(0.0, bytes_sigma**2 - pages_sigma**2))
    return mean * math.exp(sigma * normal(key, "page-bytes") - sigma**2 / 2)


def _inside(fraction: float) -> float:
    """Keep a quantile off 0 and 1, where the normal law has no value."""
    return min(max(fraction, 0.05), 0.95)


def _scaled(weights: list[float], total: int, largest: int) -> list[int]:
    low, high = 0.0, float(total)
    sizes = [1] * len(weights)
    for _ in range(60):
        scale = (low + high) / 2
        trial = [min(largest, max(1, round(scale * weight))) for weight in weights]
        if sum(trial) > total:
            high = scale
        else:
            low, sizes = scale, trial
    return sizes


def _spread_remainder(sizes: list[int], total: int, largest: int) -> None:
    """Add what rounding left over, from the largest host down (weights are ascending)."""
    missing = total - sum(sizes)
    for slot in range(len(sizes) - 1, -1, -1):
        step = min(missing, largest - sizes[slot])
        sizes[slot] += step
        missing -= step
        if not missing:
            return
