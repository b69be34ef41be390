"""Worlds like the source's: hosts, agents, and how far these are from those.

    log distance = level of the host + level of the agent + slope of the agent x log size + noise

Sizes are lognormal with sigma 2.146, which gives the source's total, median and share of the
largest by itself. An agent's level is fitted to its count of fastest hosts (of slowest, for the two
slow ones), its slope to its hours alone, by simple iteration over one draw of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.balance.source import (
    ALONE_H,
    FASTEST,
    HOSTS,
    MEDIAN_URLS,
    NAMES,
    SLOWEST,
    TOTAL_KB,
    TOTAL_URLS,
)

__all__ = ["HOUR_MS", "Floats", "World", "calibrated_world", "large_costs"]

Floats = npt.NDArray[np.float64]

HOUR_MS: Final = 3_600_000
SIGMA: Final = 2.146
HOST_SPREAD: Final = 0.5
NOISE: Final = 0.52
"""Gives the ratio of slowest to fastest over hosts that the source measured: median 48, mean 67."""
NOISE_OF: Final = {9: 0.8, 15: 0.65}
"""Of the two slow agents, which are the fastest for some hosts all the same."""
FITTING_STEPS: Final = 400
URLS_WITH_SIZE: Final = 0.8
"""Correlation of the logarithms; the source does not say it."""


@dataclass(frozen=True)
class World:
    """volume_kb, urls: (hosts,). distance: (agents, hosts) ms per KByte.

    level, slope: (agents,) what the distances were drawn with.
    """

    volume_kb: Floats
    urls: Floats
    distance: Floats
    level: Floats
    slope: Floats

    @property
    def ratio(self) -> Floats:
        """Return (hosts,) how many times the slowest agent is slower than the fastest."""
        return np.asarray(self.distance.max(axis=0) / self.distance.min(axis=0))

    @property
    def hours(self) -> Floats:
        """Return (agents, hosts) hours."""
        return np.asarray(self.distance * self.volume_kb / HOUR_MS)

    def count(self, which: str) -> npt.NDArray[np.intp]:
        """Return (agents,) for how many hosts each is the `fastest` or the `slowest`."""
        best = self.distance.argmin(0) if which == "fastest" else self.distance.argmax(0)
        return np.bincount(best, minlength=len(self.distance))


def calibrated_world(seed: int, hosts: int = HOSTS) -> World:
    """Draw the source's 17 agents and 6,500 hosts, or another number like them."""
    rng = np.random.default_rng(seed)
    agents = len(NAMES)
    size = rng.standard_normal(hosts)
    volume = np.exp(SIGMA * size)
    volume *= TOTAL_KB * (hosts / HOSTS) / volume.sum()
    host_level = HOST_SPREAD * rng.standard_normal(hosts)
    spread = np.full(agents, NOISE)
    for agent, own in NOISE_OF.items():
        spread[agent] = own
    noise = rng.standard_normal((agents, hosts)) * spread[:, None]
    alone_ms = ALONE_H * HOUR_MS * (hosts / HOSTS)
    level, slope = np.log(ALONE_H / 1000.0), np.zeros(agents)
    tiny = 3e-4
    for _ in range(FITTING_STEPS):
        distance = np.exp(host_level + level[:, None] + slope[:, None] * size + noise)
        fastest = np.bincount(distance.argmin(axis=0), minlength=agents) / hosts
        slowest = np.bincount(distance.argmax(axis=0), minlength=agents) / hosts
        step = np.log((fastest + tiny) / (FASTEST / HOSTS + tiny))
        step[9] = np.log((SLOWEST[9] / HOSTS + tiny) / (slowest[9] + tiny))
        step[15] = np.log((1 - slowest[15] + tiny) / (1 - SLOWEST[15] / HOSTS + tiny))
        short = np.log(alone_ms / (distance @ volume))
        level += 0.15 * step + 0.5 * short.mean()
        slope += 0.1 * (short - short.mean())
        slope -= slope.mean()
    return World(volume, _urls(size, rng), distance, level, slope)


def _urls(size: Floats, rng: np.random.Generator) -> Floats:
    """Return (hosts,) URLs: lognormal with the source's total and median, more on large hosts."""
    mean = TOTAL_URLS / HOSTS
    sigma = np.sqrt(2 * np.log(mean / MEDIAN_URLS))
    chance = rng.standard_normal(len(size))
    mixed = URLS_WITH_SIZE * size + np.sqrt(1 - URLS_WITH_SIZE**2) * chance
    urls = np.exp(sigma * mixed)
    return np.asarray(np.maximum(1, np.round(urls * mean * len(size) / urls.sum())))


def large_costs(world: World, agents: int, hosts: int, seed: int) -> npt.NDArray[np.float32]:
    """Return (agents, hosts) ms in single precision: more of the same hosts and agents.

    Levels and slopes are those of `world`, drawn with replacement and shaken by a quarter.
    """
    rng = np.random.default_rng(seed)
    size = rng.standard_normal(hosts, dtype=np.float32)
    # The mean size of a host stays the source's.
    log_volume = SIGMA * size + np.log(TOTAL_KB / HOSTS) - SIGMA**2 / 2
    host_level = HOST_SPREAD * rng.standard_normal(hosts, dtype=np.float32)
    drawn = rng.integers(0, len(world.level), agents)
    costs = np.empty((agents, hosts), dtype=np.float32)
    for agent, like in enumerate(drawn.tolist()):
        level = world.level[like] + 0.25 * rng.standard_normal()
        noise = NOISE_OF.get(like, NOISE) * rng.standard_normal(hosts, dtype=np.float32)
        np.exp(log_volume + host_level + level + world.slope[like] * size + noise, out=costs[agent])
    return costs
