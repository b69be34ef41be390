"""Spare probe orders: not needed where another probe of the round saw the unit whole.

An order that a round gave by itself is spare. Once it is done it is judged, and spare no longer:
so each probe is judged once, whatever brought its log.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import sqlalchemy as sa

from manager.db.planning.probes import NOTHING_LEFT
from manager.db.tables import agents, host_sums, hosts, probe_orders, units
from manager.db.transaction import Transaction
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "SEEN_WHOLE",
    "DoneProbe",
    "drop",
    "judge",
    "of_units",
    "reopen",
    "small_rounds",
    "unjudged",
    "whole_units",
]

SEEN_WHOLE: Final = Message("planning.seen_whole")
"""Why an order is not needed."""

c: Final = probe_orders.c


@frozen
class DoneProbe:
    """A probe whose log came. whole: it saw all of its unit. logged: all its lines are in."""

    id: int
    unit_id: int
    round: int
    agent_id: int
    finished_ms: int
    whole: bool
    logged: bool


@frozen
class SpareOrder:
    """An order of a unit in a round, in whatever state. partial: done, and more was left."""

    id: int
    unit_id: int
    round: int
    state: str
    spare: bool
    partial: bool
    reason: Message | None


def unjudged(tx: Transaction, probe_pages: int, limit: int) -> list[DoneProbe]:
    """Return probes that are done and not judged yet, the oldest orders first.

    A probe saw all of its unit where nothing was left to fetch before its limit, every request was
    answered, and neither an earlier crawl nor a split says that there is more. The word of an agent
    under suspicion does not count.
    """
    same = sa.and_(
        host_sums.c.agent_id == c.agent_id,
        host_sums.c.unit_id == c.unit_id,
        host_sums.c.round == c.round,
        host_sums.c.kind == "probe",
    )
    whole = sa.and_(
        _nothing_left(probe_pages),
        sa.func.coalesce(host_sums.c.pages, 0) > 0,
        sa.func.coalesce(host_sums.c.response_bytes, 0) > 0,
        sa.func.coalesce(host_sums.c.failed, 0) == 0,
        units.c.path == "/",
        hosts.c.shared_interval_ms.is_(None),
        sa.func.coalesce(units.c.pages, 0) < probe_pages,
        agents.c.suspect_since_ms.is_(None),
    )
    lines = sa.func.coalesce(host_sums.c.requests + host_sums.c.odd_lines, 0)
    return tx.rows(
        DoneProbe,
        sa.select(
            c.id,
            c.unit_id,
            c.round,
            c.agent_id,
            sa.func.coalesce(c.finished_ms, 0).label("finished_ms"),
            _true_or_false(whole).label("whole"),
            _true_or_false(lines >= c.pages).label("logged"),
        )
        .join(units, units.c.id == c.unit_id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .join(agents, agents.c.id == c.agent_id)
        .outerjoin(host_sums, same)
        .where(c.state == "done", c.spare)
        .order_by(c.id)
        .limit(limit),
    )


def _nothing_left(probe_pages: int) -> sa.ColumnElement[bool]:
    return sa.and_(c.reason.in_(NOTHING_LEFT), c.pages < probe_pages)


def _true_or_false(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.case((condition, sa.true()), else_=sa.false())


def of_units(tx: Transaction, unit_ids: Collection[int], probe_pages: int) -> list[SpareOrder]:
    """Return the orders of some units in all rounds, the first given first in each part."""
    more_left = sa.and_(c.state == "done", ~_nothing_left(probe_pages))
    query = sa.select(
        c.id,
        c.unit_id,
        c.round,
        c.state,
        c.spare,
        _true_or_false(more_left).label("partial"),
        c.reason,
    )
    return tx.rows_among(SpareOrder, query.order_by(c.id), c.unit_id, unit_ids)


def judge(tx: Transaction, order_ids: Collection[int]) -> None:
    """Note that done probes were judged."""
    tx.changed_among(probe_orders.update().values(spare=False), c.id, order_ids)


def drop(tx: Transaction, order_ids: Collection[int]) -> int:
    """Note that orders which wait are not needed; return how many."""
    dropping = probe_orders.update().where(c.state == "waiting", c.spare)
    values = {"state": "not_needed", "reason": SEEN_WHOLE}
    return tx.changed_among(dropping.values(**values), c.id, order_ids)


def reopen(tx: Transaction, order_ids: Collection[int], now_ms: int) -> int:
    """Return orders to `waiting` that a whole probe made needless; return how many."""
    reopening = probe_orders.update().where(c.state == "not_needed", c.reason == SEEN_WHOLE)
    values = {"state": "waiting", "reason": "", "spare": False, "ordered_ms": now_ms}
    return tx.changed_among(reopening.values(**values), c.id, order_ids)


def small_rounds(
    tx: Transaction, numbers: Collection[int], probe_pages: int, share: float
) -> dict[int, list[int]]:
    """Return rounds of which more than a share of the units were seen whole, with the orders that
    this made needless."""
    found = {}
    for number in numbers:
        of_round = c.round == number
        all_units = tx.value(sa.select(sa.func.count(c.unit_id.distinct())).where(of_round))
        whole = tx.value(
            sa.select(sa.func.count(c.unit_id.distinct())).where(
                of_round, c.state == "done", _nothing_left(probe_pages)
            )
        )
        if whole > share * all_units:
            dropped = of_round, c.state == "not_needed", c.reason == SEEN_WHOLE
            found[number] = tx.values(sa.select(c.id).where(*dropped))
    return found


def whole_units(tx: Transaction, round_number: int) -> dict[int, int]:
    """Return the units of a round that one agent alone probed, and saw whole, with that agent."""
    others = probe_orders.alias("others")
    dropped = sa.exists().where(
        others.c.unit_id == c.unit_id,
        others.c.round == c.round,
        others.c.state == "not_needed",
        others.c.reason == SEEN_WHOLE,
    )
    query = sa.select(c.unit_id, c.agent_id).where(c.round == round_number, c.state == "done")
    pairs: Sequence[tuple[int, int]] = tx.tuples(query.where(dropped))
    agents_of: dict[int, set[int]] = {}
    for unit, agent in pairs:
        agents_of.setdefault(unit, set()).add(agent)
    return {unit: next(iter(some)) for unit, some in agents_of.items() if len(some) == 1}
