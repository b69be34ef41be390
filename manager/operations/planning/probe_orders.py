"""Probe orders: all pairs while that is feasible, else by `assignment.probe_plan`.

A unit that one agent measured freshly and saw whole is not probed by others: what that may save is
left to `rounds.more_probes`. All orders but those of control hosts are spare (`spare_probes`).
Invariants: of an agent at most one order a unit and round; nothing that is fresh is probed again,
but control hosts, which every agent probes in each round unless it did within a day; no agent is
ordered more pages than its budget of a day holds, and no host to more agents than it bears in one.
No distance could change who crawls what where one agent alone takes part, or may have a host: there
a round orders no probe, but of control hosts that several agents may have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from manager.assignment.probe_plan import NO_AGENT, ProbeRules, plan_probes
from manager.assignment.probe_value import are_spared
from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.measurement import control_hosts
from manager.db.ownership.sole_takers import units_of_sole_takers
from manager.db.planning import missing_probes, plan_inputs
from manager.db.transaction import chunks
from manager.operations.policy import Policy

__all__ = ["budgets", "expected_probes", "order_probes_of_round", "order_some"]

DAY_MS = 86_400_000
STATES = ("placed", "probing")


def order_probes_of_round(
    tx: Transaction, number: int, agent_ids: Sequence[int], now_ms: int, policy: Policy
) -> int:
    """Order what a round is to probe first; return how many orders that is."""
    if len(agent_ids) < 2:
        return 0
    fresh_ms = now_ms - round(policy.max_distance_age_s * 1000)
    ordered = _order_controls(tx, number, agent_ids, now_ms, policy)
    count = hosts.count_in_state(tx, STATES)
    budget = budgets(tx, agent_ids, now_ms, policy)
    if _is_for_all(count, agent_ids, budget, policy):
        return ordered + missing_probes.order_everywhere(tx, number, agent_ids, fresh_ms, now_ms)
    units = [unit for unit in plan_inputs.plan_units(tx, states=STATES) if unit.path == "/"]
    largest = control_hosts.largest(tx, math.ceil(policy.probe_large_share * count))
    for part in chunks(units):
        done = order_some(
            tx,
            number,
            [unit.unit_id for unit in part],
            {unit.unit_id: unit.owner for unit in part if unit.owner is not None},
            agent_ids,
            now_ms,
            policy,
            largest=largest,
            budget=budget,
        )
        ordered += done
    return ordered


def expected_probes(
    tx: Transaction, agent_ids: Sequence[int], now_ms: int, policy: Policy
) -> dict[int, int]:
    """Return about how many probes a round that starts now would order of each agent.

    Exact but for control hosts where all agents probe all units; else an even share.
    """
    if len(agent_ids) < 2:
        return {}
    fresh_ms = now_ms - round(policy.max_distance_age_s * 1000)
    count = hosts.count_in_state(tx, (*STATES, "idle"))
    budget = budgets(tx, agent_ids, now_ms, policy)
    if _is_for_all(count, agent_ids, budget, policy):
        return missing_probes.count_everywhere(tx, agent_ids, fresh_ms)
    whole = missing_probes.count_whole_measured(
        tx, (*STATES, "idle"), agent_ids, fresh_ms, policy.probe_pages
    )
    count -= whole if are_spared(whole, count, policy.whole_hosts_most_share) else 0
    share = math.ceil(count * min(policy.probes_per_host, len(agent_ids)) / len(agent_ids))
    fresh = missing_probes.fresh_counts(tx, fresh_ms, policy.probe_pages)
    return {agent: max(0, min(share - fresh.get(agent, 0), left)) for agent, left in budget.items()}


def _is_for_all(
    count: int, agent_ids: Sequence[int], budget: Mapping[int, int], policy: Policy
) -> bool:
    """Return whether every agent can probe all of so many units."""
    return (
        count * len(agent_ids) <= policy.max_full_probe_pairs
        and len(agent_ids) <= policy.probes_per_host_per_day
        and count <= min(budget.values())
    )


def order_some(
    tx: Transaction,
    round_number: int,
    unit_ids: Sequence[int],
    owners: Mapping[int, int],
    agent_ids: Sequence[int],
    now_ms: int,
    policy: Policy,
    *,
    largest: frozenset[int] = frozenset(),
    budget: dict[int, int] | None = None,
) -> int:
    """Order some agents to probe each of some units, where they have no fresh distance.

    Hosts that an agent never gets it does not probe.
    budget: of each agent, hosts that it may still be given; what is ordered is taken from it.
    """
    if len(agent_ids) < 2:
        return 0
    sole = units_of_sole_takers(tx, unit_ids, agent_ids)
    unit_ids = [unit for unit in unit_ids if unit not in sole]
    left = budgets(tx, agent_ids, now_ms, policy) if budget is None else budget
    fresh_ms = now_ms - round(policy.max_distance_age_s * 1000)
    known = missing_probes.whole_measured(tx, unit_ids, agent_ids, fresh_ms, policy.probe_pages)
    if are_spared(len(known), len(unit_ids), policy.whole_hosts_most_share):
        unit_ids = [unit for unit in unit_ids if unit not in known]
    row_of = {agent: row for row, agent in enumerate(agent_ids)}
    place_of = {unit: place for place, unit in enumerate(unit_ids)}
    finders = hosts.finders(tx, unit_ids)

    def numbered(pairs: Iterable[tuple[int, int]]) -> npt.NDArray[np.int64]:
        return np.array(
            [
                place_of[unit] * len(agent_ids) + row_of[agent]
                for unit, agent in pairs
                if agent in row_of
            ],
            dtype=np.int64,
        )

    place, agent = plan_probes(
        np.array(unit_ids, dtype=np.int64),
        np.array([row_of.get(finders.get(unit, 0), NO_AGENT) for unit in unit_ids], dtype=np.intp),
        np.array([row_of.get(owners.get(unit, 0), NO_AGENT) for unit in unit_ids], dtype=np.intp),
        np.array([unit in largest for unit in unit_ids], dtype=np.bool_),
        numbered(missing_probes.fresh_pairs(tx, unit_ids, fresh_ms)),
        numbered(missing_probes.banned_pairs(tx, unit_ids)),
        ProbeRules(
            each=policy.probes_per_host,
            large=policy.probes_per_host_per_day,
            budget=np.array([left[agent] for agent in agent_ids], dtype=np.intp),
            near=_neighbours(tx, row_of),
        ),
    )
    pairs = [
        (unit_ids[unit], agent_ids[row])
        for unit, row in zip(place.tolist(), agent.tolist(), strict=True)
    ]
    for _, chosen in pairs:
        left[chosen] -= 1
    return missing_probes.add(tx, round_number, pairs, now_ms, spare=True)


def budgets(
    tx: Transaction, agent_ids: Sequence[int], now_ms: int, policy: Policy
) -> dict[int, int]:
    """Return how many hosts each agent may still be given to probe today; at least none."""
    used = missing_probes.ordered_since(tx, agent_ids, now_ms - DAY_MS)
    most = policy.probe_pages_per_day // policy.probe_pages
    return {agent: max(0, most - used.get(agent, 0)) for agent in agent_ids}


def _neighbours(tx: Transaction, row_of: Mapping[int, int]) -> list[list[int]]:
    """Return of each agent its neighbours in the tree of the plan that was applied last."""
    by_name = {name: row_of[agent] for agent, name in agents.names(tx).items() if agent in row_of}
    near: list[list[int]] = [[] for _ in row_of]
    for first, second in plan_inputs.last_tree(tx):
        if first in by_name and second in by_name:
            near[by_name[first]].append(by_name[second])
            near[by_name[second]].append(by_name[first])
    return near


def _order_controls(
    tx: Transaction, number: int, agent_ids: Sequence[int], now_ms: int, policy: Policy
) -> int:
    """Order each agent to probe some control hosts, of which there are enough to bear that."""
    each = policy.control_hosts_per_agent
    if not each:
        return 0
    wanted = max(each, math.ceil(each * len(agent_ids) / policy.probes_per_host_per_day))
    known = control_hosts.all_controls(tx)
    if len(known) < wanted:
        control_hosts.choose(tx, wanted - len(known), policy.probe_pages, now_ms)
        known = control_hosts.all_controls(tx)
    if not known:
        return 0
    fresh_ms = now_ms - round(policy.max_control_probe_age_s * 1000)
    fresh = missing_probes.fresh_pairs(tx, known, fresh_ms)
    pairs = {
        (known[(place * each + turn) % len(known)], agent)
        for place, agent in enumerate(sorted(agent_ids))
        for turn in range(min(each, len(known)))
    }
    banned = missing_probes.banned_pairs(tx, known)
    barred = Counter(unit for unit, agent in banned if agent in agent_ids)
    compared = {pair for pair in pairs - banned if len(agent_ids) - barred[pair[0]] > 1}
    return missing_probes.add(tx, number, sorted(compared - fresh), now_ms)
