"""Probes that a person orders: of a host, by an agent, of units measured long ago.

Invariant: an order belongs to a round, for a list of units has the number of one, and an agent does
nothing twice in a round. So units ordered during a round are probed in it, and units ordered
between two rounds are the first of the next (ADR 126). The limits of all probes hold: the probes of
an agent in a day, and the load of a host.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.hosts import hosts
from manager.db.planning import missing_probes, requested_probes
from manager.db.rounds import rounds, tick_clock
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.identity.enrolment import agent_named
from manager.operations.ownership.reassignment import members
from manager.operations.planning.probe_orders import budgets
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import FormatError, about_field
from shared.frozen import frozen
from shared.urls import host_key
from shared.wire.server_list import complete_line

__all__ = ["ORDERS_MOST", "Ordered", "order_probes"]

ORDERS_MOST: Final = 20_000
"""At once; a day of probes of one agent."""
DAYS_MOST: Final = 3650
DAY_MS: Final = 86_400_000
NOT_PROBED: Final = {
    "new": "planning.cannot_probe_unresolved",
    "excluded": "planning.cannot_probe_excluded",
}
"""Why a host in a state is not probed: a code, with the host."""


@frozen
class Ordered:
    """Outcome of an order. round: in which it is probed; waits: that has not begun yet.

    orders: probes that were ordered. known: those that the round had already, done or not.
    left_out: those for which an agent or a host has no room today. is_cut: there are others behind
    the `ORDERS_MOST` that were looked at.
    """

    round: int
    waits: bool
    orders: int
    known: int
    left_out: int
    is_cut: bool = False


def order_probes(
    db: Database,
    actor: Actor,
    now_ms: int,
    *,
    host: str = "",
    agent: str = "",
    older_days: float | None = None,
    policy: Policy = DEFAULT_POLICY,
) -> Ordered:
    """Order probes whatever a round would order itself; return how many and when they are made.

    host: only of this one, by its key or any URL on it; however fresh its distances are, unless
    older_days is given. agent: only by this one. older_days: pairs whose distance was measured
    longer ago; for an agent alone also hosts that it never measured, and if absent what is not
    fresh by the policy. Raises FormatError where nothing or no number of days is given,
    NotFoundError, ConflictError where it cannot be probed or no agent takes part.
    """
    if not host and not agent and older_days is None:
        raise FormatError("planning.probe_subject_missing").about("host")
    if older_days is not None and not 0 <= older_days <= DAYS_MOST:
        raise FormatError("planning.bad_age", days=older_days, most=DAYS_MOST).about("older")
    with db.write() as tx:
        current = rounds.open_round(tx)
        number = next_round(tx) if current is None else current.number
        taking = _agents(tx, agent)
        if host:
            open_number = 0 if current is None else current.number
            wanted = _of_host(tx, host, taking, older_days, now_ms, open_number)
        else:
            fresh_s = (
                policy.max_distance_age_s if older_days is None else older_days * DAY_MS / 1000
            )
            before_ms = now_ms - round(fresh_s * 1000)
            wanted = requested_probes.stale_pairs(
                tx, taking, before_ms, ORDERS_MOST + 1, missing=bool(agent)
            )
        is_cut, wanted = len(wanted) > ORDERS_MOST, wanted[:ORDERS_MOST]
        chosen = _within_limits(tx, wanted, taking, now_ms, policy)
        orders = missing_probes.add(tx, number, chosen, now_ms)
        done = Ordered(
            number,
            current is None,
            orders,
            len(chosen) - orders,
            len(wanted) - len(chosen),
            is_cut,
        )
        note(
            tx,
            now_ms,
            actor,
            "probe.order",
            host or agent or "all",
            round=number,
            orders=orders,
            host=host,
            agent=agent,
            older_days=older_days,
        )
    return done


def next_round(tx: Transaction) -> int:
    """Return the number that the next round will have."""
    return max(rounds.last_number(tx), tick_clock.rounds_from(tx)) + 1


def _agents(tx: Transaction, name: str) -> list[int]:
    taking = {row.name: row.id for row in members(tx)}
    if not name:
        if not taking:
            raise ConflictError("rounds.no_agent")
        return list(taking.values())
    if name in taking:
        return [taking[name]]
    with about_field("agent"):
        agent_named(tx, name)
    raise ConflictError("planning.agent_idle", agent=name).about("agent")


def _of_host(
    tx: Transaction,
    host: str,
    taking: list[int],
    older_days: float | None,
    now_ms: int,
    open_number: int,
) -> list[tuple[int, int]]:
    """Return (unit, agent) for a host, those first that measured it longest ago or never.

    open_number: of the present round, or 0. Agents that crawled the host in it are left out: of one
    round the crawl counts, and a probe would add nothing.
    """
    with about_field("host"):
        key = host_key(complete_line(host))
    top = next((unit for unit in hosts.units_of_hosts(tx, [key]) if unit.path == "/"), None)
    if top is None:
        raise NotFoundError("hosts.unknown", host=key).about("host")
    if top.state in NOT_PROBED:
        raise ConflictError(NOT_PROBED[top.state], host=key).about("host")
    if open_number and top.state == "idle":
        raise ConflictError("planning.host_waits", host=key).about("host")
    measured = requested_probes.measured_when(tx, top.id, open_number)
    before_ms = now_ms if older_days is None else now_ms - round(older_days * DAY_MS)
    never = {agent for _, agent in missing_probes.banned_pairs(tx, [top.id])}
    wanted = []
    for agent in taking:
        at_ms = measured.get(agent, 0)
        if agent not in never and at_ms is not None and at_ms <= before_ms:
            wanted.append((at_ms, agent))
    return [(top.id, agent) for _, agent in sorted(wanted)]


def _within_limits(
    tx: Transaction,
    wanted: list[tuple[int, int]],
    taking: list[int],
    now_ms: int,
    policy: Policy,
) -> list[tuple[int, int]]:
    """Return the pairs for which their agent and their host have room, in their order."""
    left = budgets(tx, taking, now_ms, policy)
    borne: Counter[int] = Counter()
    chosen = []
    for unit, agent in wanted:
        if left[agent] > 0 and borne[unit] < policy.probes_per_host_per_day:
            left[agent] -= 1
            borne[unit] += 1
            chosen.append((unit, agent))
    return chosen
