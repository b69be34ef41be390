"""Cheapest owners of single units beside present loads, for placing between two plans.

As in the default plan, a unit goes where it costs the network least among the agents with which the
crawl ends no later. An agent that a person paused gets only what no other may have.
Invariant: what shares an address goes to one agent, and pins and bans hold.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from manager.assignment.liveness import HELD_STATES
from manager.balancing.arrays import NO_OWNER
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.work_duration import Availability
from manager.balancing.placement import place, place_in_time
from manager.balancing.problem import collapse
from manager.db.engine import Transaction
from manager.db.fleet.agents import AgentRow
from manager.db.rounds import rounds
from manager.operations.planning.balancing_problem import load_some
from manager.operations.policy import Policy

__all__ = ["cheapest_owners"]


def cheapest_owners(
    tx: Transaction,
    agents: Sequence[AgentRow],
    unit_ids: Collection[int],
    policy: Policy,
    now_ms: int,
) -> tuple[dict[int, int], dict[int, float]]:
    """Return where units cost least among some agents, given what those own already.

    Units of one group go to one agent; the present owners do not count. Returns unit to agent,
    and agent to the ms that this adds to its cost.
    """
    loaded = load_some(tx, agents, unit_ids, policy, start_ms=now_ms)
    if loaded is None:
        return {}, {}
    problem, work = loaded.problem, loaded.work
    atoms = collapse(replace(problem, before=np.full(len(loaded.unit_ids), NO_OWNER, np.intp)))
    loads = np.array([max(0.0, agent.load_ms) for agent in agents])
    if policy.plan_by_transfer:
        placed = place(atoms, loads=loads)
    else:
        times = work.time_costs(problem.costs, problem.before, atoms.of_unit, atoms.costs)
        times = replace(times, hours=_hours(agents, work, times.hours))
        end_ms = max(_crawl_end(tx, policy) - now_ms, times.longest_ms())
        placed = place_in_time(times, loads * work.relative / times.connections, end_ms)
    owner = atoms.expand(placed)
    owners = {
        int(unit): loaded.agent_ids[int(agent)]
        for unit, agent in zip(loaded.unit_ids, owner, strict=True)
    }
    added: dict[int, float] = {}
    for column, agent in enumerate(owner.tolist()):
        number = loaded.agent_ids[agent]
        added[number] = added.get(number, 0.0) + float(problem.costs[agent, column])
    return owners, added


def _hours(
    agents: Sequence[AgentRow], work: Work, hours: Sequence[Availability]
) -> list[Availability]:
    """Return the hours of each agent; one that a person paused or drains ends nothing."""
    return [
        Availability(replace(capacity, calm=0.0), work.start_ms)
        if agent.state in HELD_STATES
        else own
        for agent, capacity, own in zip(agents, work.capacities, hours, strict=True)
    ]


def _crawl_end(tx: Transaction, policy: Policy) -> float:
    """Return when the newest open round is predicted to have fetched all, epoch ms; 0: unknown."""
    current = rounds.open_round(tx)
    if current is None or current.state != "crawling" or current.eta_ms is None:
        return 0.0
    return current.eta_ms - 1000 * policy.log_timeout_s
