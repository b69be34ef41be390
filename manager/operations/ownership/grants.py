"""Give an agent the rights that wait for it: probes, units that it owns, pages to fetch again.

Invariant: in one group only one agent has rights at a time, for the queries leave out groups with
rights of another: so only one robot visits an address. Only agents with a valid permit get rights:
a silent agent keeps none from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from manager.balancing.forecast.work_duration import Capacity
from manager.db.engine import Transaction
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import refetch_orders
from manager.db.ownership import rights
from manager.db.ownership.rights import Grant
from manager.db.planning import next_probes, probes
from manager.db.rounds import round_units, rounds, tick_clock
from manager.db.rounds.rounds import RoundRow
from manager.operations.ownership.agent_capacity import capacity_of
from manager.operations.policy import Policy

__all__ = ["grant_waiting", "may_receive", "probe_room"]

LEAST_PROBES: Final = 20  # small hosts are done long before the agent calls again


def may_receive(agent: AgentRow, now_ms: int) -> bool:
    """Return whether an agent may be given rights now."""
    return agent.takes_part and not agent.rejoined and agent.permit_until_ms > now_ms


def grant_waiting(
    tx: Transaction, agent: AgentRow, opened: Sequence[RoundRow], now_ms: int, policy: Policy
) -> int:
    """Grant an agent its waiting free units, at most a batch; return their number.

    opened: the open rounds, oldest first: what an agent owns in two of them it crawls in the older
    one first. An agent that knows one round at a time is given another when nothing is left of it.

    A plain agent is given probes or crawls, never both: its list has one limit for all units.
    Pages to be fetched again come last: a crawl need not wait for them. After a restore nothing
    is given until the permits from before are over (`restore_safety`).
    """
    if not may_receive(agent, now_ms) or tick_clock.held_until(tx) > now_ms:
        return 0
    numbers = _rounds_for(tx, agent, [row.number for row in opened])
    given = _grant_work(tx, agent, numbers, now_ms, policy) if numbers else 0
    if agent.refetches and not agent.is_plain:
        given += _grant_refetches(tx, agent, now_ms, policy)
    return given


def _rounds_for(tx: Transaction, agent: AgentRow, numbers: Sequence[int]) -> Sequence[int]:
    """Return the rounds of which an agent may be given work now, oldest first."""
    if agent.unit_rounds or len(numbers) < 2:  # nothing to choose from
        return numbers
    held = rights.oldest_round(tx, agent.id)
    if held is not None:
        return [number for number in numbers if number == held]
    for number in numbers:
        if agent.id in round_units.agents_waiting(tx, number):
            return [number]
    return numbers[-1:]


def _grant_work(
    tx: Transaction, agent: AgentRow, numbers: Sequence[int], now_ms: int, policy: Policy
) -> int:
    probing = rights.count_of(tx, agent.id, "probe")
    if not agent.is_plain:
        room = probe_room(capacity_of(agent), policy) - probing
        probed = _grant_probes(tx, agent, numbers, room, now_ms, policy)
        return probed + _grant_crawls(tx, agent, numbers, now_ms, policy)
    if not rights.count_of(tx, agent.id, "crawl"):
        # It calls once a night: what it is given is all that it does until tomorrow.
        probed = _grant_probes(tx, agent, numbers, policy.tick_batch_rows, now_ms, policy)
        if probed or probing:
            return probed
    return 0 if probing else _grant_crawls(tx, agent, numbers, now_ms, policy)


def probe_room(capacity: Capacity, policy: Policy) -> int:
    """Return how many hosts an agent may have for probes: what it holds, no other can probe."""
    return min(policy.parallel_probes, max(LEAST_PROBES, 2 * capacity.connections))


def _grant_probes(
    tx: Transaction,
    agent: AgentRow,
    numbers: Sequence[int],
    room: int,
    now_ms: int,
    policy: Policy,
) -> int:
    if room <= 0:
        return 0
    pages = policy.probe_pages
    waiting = next_probes.waiting_for(tx, agent.id, room, pages, first=not agent.is_plain)
    given = [
        Grant(order.unit_id, order.group_id, kind="probe", round=order.round, max_transfer=pages)
        for order in waiting
        if order.round in numbers
    ]
    rights.grant(tx, agent.id, given, now_ms)
    probes.set_granted(tx, agent.id, [one.unit_id for one in given], now_ms)
    return len(given)


def _grant_crawls(
    tx: Transaction, agent: AgentRow, numbers: Sequence[int], now_ms: int, policy: Policy
) -> int:
    left = policy.tick_batch_rows
    for number in numbers:
        waiting = round_units.waiting_for(tx, agent.id, number, left, is_plain=agent.is_plain)
        given = [
            Grant(unit.unit_id, unit.group_id, "crawl", number, agent.list_limit or 0)
            for unit in waiting
        ]
        rights.grant(tx, agent.id, given, now_ms)
        round_units.set_granted(tx, number, [one.unit_id for one in given])
        left -= len(given)
        if not left:
            break
    return policy.tick_batch_rows - left


def _grant_refetches(tx: Transaction, agent: AgentRow, now_ms: int, policy: Policy) -> int:
    room = policy.parallel_probes - rights.count_of(tx, agent.id, "refetch")
    if room <= 0:
        return 0
    number = rounds.last_number(tx)
    if not agent.unit_rounds:
        number = rights.oldest_round(tx, agent.id) or number
    given = [
        Grant(one.unit_id, one.group_id, kind="refetch", round=number, max_transfer=one.pages)
        for one in refetch_orders.waiting_for(tx, agent.id, room)
    ]
    rights.grant(tx, agent.id, given, now_ms)
    refetch_orders.set_granted(tx, agent.id, [one.unit_id for one in given], now_ms)
    return len(given)
