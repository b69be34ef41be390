"""End of the whole crawl by method, one thread and 200, planned by what probes of the run found.

Some agents probe each host; the pairs whose probe is worth its pages follow in steps, chosen by the
manager's own code and defaults. Other distances are predicted, and a prediction bars a move, as in
the manager. The true distances then say when the crawl ends, over the bound of the true world, and
what it costs the network, over the least that any plan with that end costs (the dual of the linear
program). Transfer only, as in the source: waiting is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from benchmarks.balance.source import NAMES, THREADS
from benchmarks.balance.world import HOUR_MS, Floats, World
from manager.assignment.probe_value import ValueRules, are_spared
from manager.balancing.arrays import NO_OWNER, BoolArray, IntArray
from manager.balancing.balancers import Options, make_plan
from manager.balancing.cost import cost_matrix
from manager.balancing.earliest_end import end_bound
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.work_duration import Capacity
from manager.balancing.network_cost import cheapest_within
from manager.balancing.problem import Problem, collapse
from manager.distance.minimum_spanning_tree import network_distance, spanning_tree
from manager.distance.nearest_agents import nearest_pairs
from manager.distance.prediction import Model, Probes, fit
from manager.operations.measurement.distance_model import LoadedModel
from manager.operations.planning.balancing_problem import Loaded
from manager.operations.planning.probe_values import valuable_pairs
from manager.operations.policy import DEFAULT_POLICY
from manager.operations.rounds.more_probes import AGENTS_A_STEP

__all__ = ["METHODS", "Knowledge", "Reached", "ends_of", "probed"]

METHODS: Final = ("nearest", "random", "tree", "default")


@dataclass(frozen=True)
class Knowledge:
    """distance: (agents, hosts) measured or predicted. probed: (agents, hosts) was measured."""

    distance: Floats
    probed: BoolArray

    def requests_per_page(self, world: World, owner: IntArray) -> float:
        """Return requests a page of a round; a probe of the later owner counts as its pages."""
        pages = np.minimum(world.urls, DEFAULT_POLICY.probe_pages)
        wasted = self.probed.sum(axis=0) - self.probed[owner, np.arange(len(owner))]
        return float(1 + (pages * wasted).sum() / world.urls.sum())


def probed(
    world: World, capacities: tuple[Capacity, ...], seed: int, noise: float = 0.0
) -> Knowledge:
    """Return what the probes of one run say. noise: of a probe, in natural logarithms."""
    rng = np.random.default_rng(500 + seed)
    agents, hosts = world.distance.shape
    policy = DEFAULT_POLICY
    found = world.distance * np.exp(noise * rng.standard_normal((agents, hosts)))
    measured = np.zeros((agents, hosts), dtype=np.bool_)
    first = np.argsort(rng.random((agents, hosts)), axis=0)[: policy.probes_per_host]
    np.put_along_axis(measured, first, True, axis=0)
    # What its first probe saw whole no other agent probes, but for a share that is drawn.
    whole = world.urls < policy.probe_pages
    rank = np.argsort(np.argsort(np.where(measured, rng.random(measured.shape), 2), axis=0), axis=0)
    enough = 1 + (rng.random(hosts) < policy.whole_host_check_share)
    if are_spared(int(whole.sum()), hosts, policy.whole_hosts_most_share):
        measured &= ~whole | (rank < enough)
    rules = ValueRules(
        policy.probe_gain,
        AGENTS_A_STEP,
        policy.whole_host_probe_gain,
        policy.whole_hosts_most_share,
    )
    distance, model = _predicted(found, measured)
    for _ in range(policy.probe_steps):
        problem = _problem(world, distance, capacities)
        assert problem.work is not None
        loaded = Loaded(
            problem,
            tuple(range(agents)),
            np.arange(hosts),
            spanning_tree(network_distance(distance)),
            ~measured,
            problem.work,
        )
        known = np.ones(agents, dtype=np.bool_)
        pairs = valuable_pairs(loaded, LoadedModel(model, known), rules, policy.probe_pages, known)
        if not pairs:
            break
        for host, agent in pairs:
            measured[agent, host] = True
        distance, model = _predicted(found, measured)
    return Knowledge(distance, measured)


def _predicted(found: Floats, measured: BoolArray) -> tuple[Floats, Model]:
    """Return all distances, predicted where they were not measured, and the model."""
    agents, hosts = found.shape
    agent, host = np.nonzero(measured)
    probes = Probes(agent, host, found[agent, host])
    model = fit(probes, agents, hosts)
    assert model is not None
    distance = np.asarray(model.predict(model.places(probes, hosts)), dtype=np.float64)
    distance[agent, host] = found[agent, host]
    return distance, model


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
    barred = ~known.probed & known.probed.any(axis=0)
    seen = replace(_problem(world, known.distance, capacities), unreachable=barred)
    atoms = collapse(truth)
    assert truth.work is not None
    times = truth.work.time_costs(truth.costs, truth.before, atoms.of_unit, atoms.costs)
    bound_ms = end_bound(times)
    dealt = make_plan("random", seen, Options(seed=seed)).after
    found = []
    for method in METHODS:
        if method == "nearest":
            owner = np.where(barred, np.inf, known.distance).argmin(axis=0).astype(np.intp)
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
