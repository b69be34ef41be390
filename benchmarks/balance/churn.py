"""Rounds in which everything changes: how even a method keeps the costs, at how many moves.

Between two rounds every distance is multiplied by its own factor, lognormal with a spread of 20%,
and keeps the result; one agent of 17 (6%) leaves and the one that left before returns with
nothing; 1% new hosts come, like known ones, without an owner.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from benchmarks.balance.methods import problem_of
from benchmarks.balance.source import HOSTS, NAMES, TOTAL_KB, TOTAL_URLS
from benchmarks.balance.world import World, calibrated_world
from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import make_plan
from manager.balancing.cost import cost_matrix
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.work_duration import Capacity
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem
from manager.distance.minimum_spanning_tree import network_distance, spanning_tree
from manager.distance.nearest_agents import nearest_pairs

__all__ = ["Churned", "Round", "churn"]

DRIFT: Final = 0.2
NEW: Final = 0.01
KB_OF_A_PAGE: Final = TOTAL_KB / TOTAL_URLS


@dataclass(frozen=True)
class Round:
    """Shares are of all hosts. chosen: moved though their owner is there. forced: it left."""

    over_bound: float
    chosen: float
    forced: float
    bytes: float
    seconds: float

    @property
    def moved(self) -> float:
        """Return the share that changes hands, for whatever reason, new hosts not counted."""
        return self.chosen + self.forced


@dataclass(frozen=True)
class Churned:
    """Results of one method in all rounds of one world."""

    method: str
    rounds: tuple[Round, ...]

    def percentile(self, what: str, share: float) -> float:
        """Return a percentile over the rounds."""
        return float(np.percentile([getattr(one, what) for one in self.rounds], share))


def churn(
    method: str, seed: int, rounds: int, *, capacity: Capacity | None = None, hosts: int = HOSTS
) -> Churned:
    """Return what a method does; it begins with a first placement by `prices`.

    capacity: of each agent, for plans of the earliest end; None: plans of transfer, as the source.
    """
    world = calibrated_world(seed, hosts)
    owner = make_plan("prices", problem_of(world)).after
    rng = np.random.default_rng(1_000 + seed)
    volume, distance = world.volume_kb, world.distance
    done = []
    for _ in range(rounds):
        volume, distance = _changed(world, volume, distance, rng)
        known = len(owner)
        owner = np.concatenate((owner, np.full(len(volume) - known, NO_OWNER, dtype=np.intp)))
        away = int(rng.integers(len(NAMES)))
        here = np.array([agent for agent in range(len(NAMES)) if agent != away])
        seat = np.full(len(NAMES) + 1, NO_OWNER, dtype=np.intp)  # the last: units without an owner
        seat[here] = np.arange(len(here))
        problem = _problem(volume, distance[here], seat[owner], here.tolist())
        if capacity is not None:
            urls = np.maximum(1.0, np.round(volume / KB_OF_A_PAGE))
            problem = replace(
                problem,
                work=Work.of(
                    [capacity] * len(here), problem.costs, urls, volume, np.arange(len(volume))
                ),
            )
        began = time.perf_counter()
        plan = make_plan(method, problem)
        seconds = time.perf_counter() - began
        done.append(_round(plan, problem, volume, known, seconds))
        owner = here[plan.after]
    return Churned(method, tuple(done))


def _changed(
    world: World,
    volume: np.ndarray[tuple[int], np.dtype[np.float64]],
    distance: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    rng: np.random.Generator,
) -> tuple[
    np.ndarray[tuple[int], np.dtype[np.float64]], np.ndarray[tuple[int, int], np.dtype[np.float64]]
]:
    drifted = distance * np.exp(np.log1p(DRIFT) * rng.standard_normal(distance.shape))
    like = rng.integers(0, len(world.volume_kb), round(NEW * len(volume)))
    shaken = np.exp(0.3 * rng.standard_normal((len(distance), len(like))))
    return (
        np.concatenate((volume, world.volume_kb[like])),
        np.concatenate((drifted, world.distance[:, like] * shaken), axis=1),
    )


def _problem(
    volume: np.ndarray[tuple[int], np.dtype[np.float64]],
    distance: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    before: np.ndarray[tuple[int], np.dtype[np.intp]],
    here: list[int],
) -> Problem:
    between = network_distance(distance)
    return Problem(
        names=tuple(NAMES[agent] for agent in here),
        costs=cost_matrix(volume, distance).costs,
        before=before,
        edges=spanning_tree(between).edges,
        near=nearest_pairs(between),
    )


def _round(
    plan: Plan,
    problem: Problem,
    volume: np.ndarray[tuple[int], np.dtype[np.float64]],
    known: int,
    seconds: float,
) -> Round:
    if plan.after.min() < 0 or len(plan.after) != len(volume):
        raise AssertionError(f"{plan.method}: a host has no owner")
    held = problem.before != NO_OWNER
    chosen = held & (plan.after != problem.before)
    forced = np.count_nonzero(~held[:known])
    count = len(volume)
    return Round(
        plan.above_bound if plan.time is None else plan.time.above_bound,
        np.count_nonzero(chosen) / count,
        forced / count,
        float(volume[chosen].sum() / volume.sum()),
        seconds,
    )
