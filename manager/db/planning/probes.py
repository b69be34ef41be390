"""Probe orders: which agent is to measure which unit, and how far that is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import sqlalchemy as sa

from manager.db.ownership import work_orders
from manager.db.ownership.work_orders import OPEN
from manager.db.tables import agents, hosts, probe_orders, rights, rounds, unit_rounds, units
from manager.db.transaction import Transaction, any_of, chunks
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "IN_ITS_LOG",
    "ITS_LOG_ENDS",
    "NOTHING_LEFT",
    "NO_MORE_LINES",
    "WANTS_A_LIST",
    "OrderRow",
    "agents_waiting",
    "agents_with_open",
    "agents_with_unlogged",
    "any_open",
    "counts",
    "counts_of_agent",
    "cut_short",
    "drop_blocked",
    "drop_waiting",
    "fail",
    "fail_round",
    "finish",
    "of_unit",
    "overdue",
    "overdue_waiting",
    "set_done",
    "set_granted",
    "unlogged",
    "waiting_by_agent",
    "waiting_of",
    "was_cut_short",
]


IN_ITS_LOG: Final = Message("planning.in_its_log")
WANTS_A_LIST: Final = Message("planning.new_list_requested")
NO_MORE_LINES: Final = Message("planning.no_longer_logged")
ITS_LOG_ENDS: Final = Message("planning.log_ended")
"""Of who speaks only the five messages, and says no reason, these are why a unit is finished."""
NOTHING_LEFT: Final = (
    "",
    "complete",
    "nothing to fetch",
    IN_ITS_LOG.code,
    WANTS_A_LIST.code,
    NO_MORE_LINES.code,
)
"""Why a unit is finished of which nothing is left to fetch, as far as anybody knows."""


@message_fields
@frozen
class OrderRow:
    """All that is kept of an order."""

    id: int
    round: int
    unit_id: int
    agent_id: int
    state: str
    ordered_ms: int
    granted_ms: int | None
    finished_ms: int | None
    pages: int
    reason: Message | None


_WITH_UNLOGGED: Final = (
    sa.select(probe_orders.c.agent_id)
    .where(
        probe_orders.c.agent_id.in_(sa.bindparam("agents", expanding=True)),
        probe_orders.c.state == "finished",
        probe_orders.c.finished_ms < sa.bindparam("before_ms"),
    )
    .distinct()
)
_ANY_OPEN: Final = sa.select(
    sa.exists().where(probe_orders.c.round == sa.bindparam("round"), probe_orders.c.state.in_(OPEN))
)
_OVERDUE: Final = (
    sa.select(probe_orders.c.unit_id)
    .where(
        probe_orders.c.agent_id == sa.bindparam("agent"),
        probe_orders.c.state == "granted",
        probe_orders.c.granted_ms < sa.bindparam("before_ms"),
    )
    .limit(sa.bindparam("most"))
)


def overdue_waiting(tx: Transaction, agent_id: int, before_ms: int, last_round: int) -> int:
    """Fail the waiting orders of an absent agent from before a moment; return how many.

    last_round: what is ordered for a later one waits for it, however long.
    """
    return tx.changed(
        probe_orders.update()
        .where(
            probe_orders.c.agent_id == agent_id,
            probe_orders.c.state == "waiting",
            probe_orders.c.ordered_ms < before_ms,
            probe_orders.c.round <= last_round,
        )
        .values(state="failed", reason=Message("planning.agent_absent"))
    )


def drop_blocked(tx: Transaction, number: int, reason: Message) -> int:
    """Drop orders of a round that wait where a crawl runs or must come first; return how many.

    That is so in the address group of a unit that is crawled, or that a live round will crawl; and
    for an agent that knows one round at a time and has another one.
    """
    crawled, beside, place = unit_rounds.alias("crawled"), units.alias("beside"), hosts.alias("at")
    probed, host = units.alias("probed"), hosts.alias("host")
    group = (
        sa.select(host.c.group_id)
        .join(probed, probed.c.host_id == host.c.id)
        .where(probed.c.id == probe_orders.c.unit_id)
        .correlate(probe_orders)
        .scalar_subquery()
    )
    unfinished = sa.exists().where(
        place.c.group_id == group,
        beside.c.host_id == place.c.id,
        crawled.c.unit_id == beside.c.id,
        crawled.c.state.in_(("waiting", "granted")),
    )
    held = sa.exists().where(rights.c.group_id == group, rights.c.kind == "crawl")
    busy = sa.exists().where(
        agents.c.id == probe_orders.c.agent_id,
        ~agents.c.unit_rounds,
        sa.or_(
            sa.exists().where(
                unit_rounds.c.agent_id == agents.c.id,
                unit_rounds.c.state.in_(("waiting", "granted")),
                unit_rounds.c.round < number,
            ),
            sa.exists().where(rights.c.agent_id == agents.c.id, rights.c.round < number),
        ),
    )
    return tx.changed(
        probe_orders.update()
        .where(
            probe_orders.c.round == number,
            probe_orders.c.state == "waiting",
            sa.or_(unfinished, held, busy),
        )
        .values(state="not_needed", reason=reason)
    )


def set_granted(tx: Transaction, agent_id: int, unit_ids: Collection[int], now_ms: int) -> None:
    """Note that an agent was given these units to probe."""
    work_orders.set_granted(tx, probe_orders, agent_id, unit_ids, now_ms)


def finish(
    tx: Transaction,
    agent_id: int,
    finished: Sequence[tuple[int, int, int, Message | str | None]],
    now_ms: int,
) -> None:
    """Note that an agent finished (unit, round, pages, reason); its log is still to come.

    A reason that is a text is the agent's own.
    """
    rows = [
        {"unit_id": unit, "round": number, "pages": pages, "reason": reason}
        for unit, number, pages, reason in finished
    ]
    open_of_agent = (
        probe_orders.c.agent_id == agent_id,
        any_of(probe_orders.c.state, "waiting", "granted"),
    )
    ended = {"state": "finished", "finished_ms": now_ms}
    tx.update_each(probe_orders, ("unit_id", "round"), rows, *open_of_agent, **ended)


def set_done(tx: Transaction, agent_id: int, measured: Sequence[tuple[int, int]]) -> None:
    """Note that the log of (unit, round) came, for orders that were finished."""
    rows = [{"unit_id": unit, "round": number} for unit, number in measured]
    finished = probe_orders.c.agent_id == agent_id, probe_orders.c.state == "finished"
    tx.update_each(probe_orders, ("unit_id", "round"), rows, *finished, state="done")


def fail(
    tx: Transaction,
    reason: Message,
    *,
    agent_id: int | None = None,
    unit_ids: Collection[int] | None = None,
    states: Sequence[str] = OPEN,
) -> int:
    """Fail orders: of an agent, of units, or of units of an agent. Returns how many."""
    assert agent_id is not None or unit_ids is not None, "all orders are never meant"
    failing = probe_orders.update().where(probe_orders.c.state.in_(states))
    failing = failing.values(state="failed", reason=reason)
    if agent_id is not None:
        failing = failing.where(probe_orders.c.agent_id == agent_id)
    if unit_ids is None:
        return tx.changed(failing)
    return tx.changed_among(failing, probe_orders.c.unit_id, unit_ids)


def drop_waiting(tx: Transaction, round_number: int, reason: Message) -> None:
    """Note that the orders of a round that wait are not needed."""
    tx.execute(
        probe_orders.update()
        .where(probe_orders.c.round == round_number, probe_orders.c.state == "waiting")
        .values(state="not_needed", reason=reason)
    )


def fail_round(tx: Transaction, round_number: int, reason: Message) -> None:
    """Fail all open orders of a round."""
    tx.execute(
        probe_orders.update()
        .where(probe_orders.c.round == round_number, probe_orders.c.state.in_(OPEN))
        .values(state="failed", reason=reason)
    )


def overdue(tx: Transaction, agent_id: int, before_ms: int, limit: int) -> list[int]:
    """Return units that an agent was given to probe before a moment and has not finished."""
    given = {"agent": agent_id, "before_ms": before_ms, "most": limit}
    return tx.values(_OVERDUE, given)


def unlogged(tx: Transaction, agent_id: int, before_ms: int, limit: int) -> list[int]:
    """Return units whose probe an agent finished before a moment, and no log of which came."""
    c = probe_orders.c
    query = sa.select(c.unit_id).where(c.agent_id == agent_id, c.state == "finished")
    return tx.values(query.where(c.finished_ms < before_ms).limit(limit))


def agents_with_unlogged(tx: Transaction, agent_ids: Collection[int], before_ms: int) -> list[int]:
    """Return those of some agents of which `unlogged` would find something."""
    found: list[int] = []
    for part in chunks(agent_ids):
        found += tx.values(_WITH_UNLOGGED, {"agents": part, "before_ms": before_ms})
    return found


def agents_waiting(tx: Transaction) -> list[int]:
    """Return the agents that have orders which they were not given yet."""
    return work_orders.agents_waiting(tx, probe_orders)


def agents_with_open(tx: Transaction) -> list[int]:
    """Return the agents that have orders to carry out."""
    return work_orders.agents_with_open(tx, probe_orders)


def done_of_agent(
    tx: Transaction, agent_id: int, crawls: Sequence[tuple[int, int]]
) -> set[tuple[int, int]]:
    """Return those (unit, round) of some that an agent probed and whose logs are in."""
    c = probe_orders.c
    query = sa.select(c.unit_id, c.round).where(c.agent_id == agent_id, c.state == "done")
    found = set(map(tuple, tx.among(query, c.unit_id, [unit for unit, _ in crawls])))
    return found & set(crawls)


def any_open(tx: Transaction, round_number: int) -> bool:
    """Return whether an order of a round is still to be carried out."""
    return bool(tx.value(_ANY_OPEN, {"round": round_number}))


def counts(tx: Transaction, round_number: int) -> dict[str, int]:
    """Return how many orders of a round are in each state."""
    return tx.counts(probe_orders.c.state, probe_orders.c.round == round_number)


def waiting_by_agent(tx: Transaction) -> dict[int, int]:
    """Return how many orders of the open round wait to be granted, by agent."""
    return tx.counts(probe_orders.c.agent_id, _waiting_in_open_round())


def waiting_of(tx: Transaction, agent_id: int) -> int:
    """Return how many orders of an agent in the open round wait to be granted."""
    mine = probe_orders.c.agent_id == agent_id
    return tx.count(probe_orders, mine, _waiting_in_open_round())


def _waiting_in_open_round() -> sa.ColumnElement[bool]:
    open_round = sa.select(rounds.c.number).where(rounds.c.state.in_(("probing", "crawling")))
    return sa.and_(probe_orders.c.round.in_(open_round), probe_orders.c.state == "waiting")


def counts_of_agent(tx: Transaction, agent_id: int) -> dict[str, int]:
    """Return how many orders of an agent are in each state."""
    return tx.counts(probe_orders.c.state, probe_orders.c.agent_id == agent_id)


def of_unit(tx: Transaction, unit_id: int) -> list[OrderRow]:
    """Return all orders to probe a unit, newest first."""
    query = sa.select(probe_orders).where(probe_orders.c.unit_id == unit_id)
    return tx.rows(OrderRow, query.order_by(probe_orders.c.id.desc()))


def was_cut_short() -> sa.ColumnElement[bool]:
    """Return the condition that an order's probe did not see all of its pages.

    It still runs, it failed, or the agent gave a reason for its early end.
    """
    return sa.or_(
        any_of(probe_orders.c.state, "waiting", "granted", "failed"),
        probe_orders.c.reason.not_in(NOTHING_LEFT),
    )


def cut_short(tx: Transaction, unit_ids: Collection[int]) -> set[tuple[int, int, int]]:
    """Return (unit, agent, round) of the probes of some units that were cut short."""
    c = probe_orders.c
    query = sa.select(c.unit_id, c.agent_id, c.round).where(was_cut_short())
    return set(map(tuple, tx.among(query, c.unit_id, unit_ids)))
