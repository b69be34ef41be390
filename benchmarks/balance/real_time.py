"""End of the whole crawl by method, one thread and 200, planned by what probes of the run found.

All agents probe the largest hosts, a few agents each other host. Unmeasured distances are
predicted, as the manager does. The true distances then say when the crawl ends, over the bound of
the true world, and what it costs the network, over the least that any plan with that end costs
(the dual of the linear program). Transfer only, as in the source: waiting is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from benchmarks.balance.source import NAMES, THREADS
from benchmarks.balance.world import HOUR_MS, Floats, World
from manager.balancing.arrays import NO_OWNER, IntArray
from manager.balancing.balancers import Options, make_plan
from manager.balancing.cost import cost_matrix
from manager.balancing.crawl_work import Work
from manager.balancing.earliest_end import end_bound
from manager.balancing.network_cost import cheapest_within
from manager.balancing.problem import Problem, collapse
from manager.balancing.work_duration import Capacity
from manager.distance.minimum_spanning_tree import network_distance, spanning_tree
from manager.distance.nearest_agents import nearest_pairs
from manager.distance.prediction import Probes, fit

__all__ = ["METHODS", "Knowledge", "Reached", "ends_of", "probed"]

METHODS: Final = ("nearest", "random", "tree", "default")
BY_ALL: Final = 0.05
"""Share of the hosts, the largest, that every agent probes: they hold two thirds of the bytes."""
BY_SOME: Final = 2
"""Agents that probe each other host."""
PROBE_PAGES: Final = 50


@dataclass(frozen=True)
class Knowledge:
    """distance: (agents, hosts) measured or predicted. probed: (agents, hosts) was measured."""

    distance: Floats
    probed: np.ndarray[tuple[int, int], np.dtype[np.bool_]]

    def requests_per_page(self, world: World, owner: IntArray) -> float:
        """Return requests a page of a round; a probe of the later owner counts as its pages."""
        pages = np.minimum(world.urls, PROBE_PAGES)
        wasted = self.probed.sum(axis=0) - self.probed[owner, np.arange(len(owner))]
        return float(1 + (pages * wasted).sum() / world.urls.sum())


def probed(world: World, seed: int, noise: float = 0.0) -> Knowledge:
    """Return what the probes of one run say. noise: of a probe, in natural logarithms."""
    rng = np.random.default_rng(500 + seed)
    agents, hosts = world.distance.shape
    measured = np.zeros((agents, hosts), dtype=np.bool_)
    order = np.argsort(-world.volume_kb)
    measured[:, order[: round(BY_ALL * hosts)]] = True
    chosen = np.argsort(rng.random((agents, hosts)), axis=0)[:BY_SOME]
    np.put_along_axis(measured, chosen, True, axis=0)
    agent, host = np.nonzero(measured)
    seen = world.distance[agent, host] * np.exp(noise * rng.standard_normal(len(agent)))
    probes = Probes(agent, host, seen)
    model = fit(probes, agents, hosts)
    assert model is not None
    distance = np.asarray(model.predict(model.places(probes, hosts)), dtype=np.float64)
    distance[agent, host] = seen
    return Knowledge(distance, measured)


@dataclass(frozen=True)
class Reached:
    """Result of a method. over_cheapest: network cost over the least with the same end."""

    method: str
    end_h: float
    over_bound: float
    over_cheapest: float
    requests_per_page: float


def ends_of(
    world: World, known: Knowledge, capacities: tuple[Capacity, ...], seed: int
) -> list[Reached]:
    """Return what each method reaches from a first placement (`tree`: from the random deal)."""
    truth = _problem(world, world.distance, capacities)
    seen = _problem(world, known.distance, capacities)
    atoms = collapse(truth)
    assert truth.work is not None
    times = truth.work.time_costs(truth.costs, truth.before, atoms.of_unit, atoms.costs)
    bound_ms = end_bound(times)
    dealt = make_plan("random", seen, Options(seed=seed)).after
    found = []
    for method in METHODS:
        if method == "nearest":
            owner = known.distance.argmin(axis=0).astype(np.intp)
        elif method == "random":
            owner = dealt
        else:
            given = replace(seen, before=dealt) if method == "tree" else seen
            owner = make_plan(method, given).after
        end_ms = float(truth.work.ends_ms(truth.costs, owner).max())
        _, least = cheapest_within(atoms, times, end_ms)
        found.append(
            Reached(
                method,
                end_ms / HOUR_MS,
                end_ms / bound_ms,
                truth.work.network_ms(truth.costs, owner) / least,
                known.requests_per_page(world, owner),
            )
        )
    return found


def threads(count: int) -> Capacity:
    """Return the source's agent: so many threads, no waiting."""
    return Capacity(connections=count, burst=0)


ONE: Final = threads(1)
MANY: Final = threads(THREADS)


def _problem(world: World, distance: Floats, capacities: tuple[Capacity, ...]) -> Problem:
    costs = cost_matrix(world.volume_kb, distance).costs
    between = network_distance(distance)
    hosts = len(world.volume_kb)
    return Problem(
        names=NAMES[: len(distance)],
        costs=costs,
        before=np.full(hosts, NO_OWNER, dtype=np.intp),
        edges=spanning_tree(between).edges,
        near=nearest_pairs(between),
        work=Work.of(capacities, costs, world.urls, world.volume_kb, np.arange(hosts)),
    )
