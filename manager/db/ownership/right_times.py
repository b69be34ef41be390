"""Times of rights by the manager's clock, beside what the logs claim of their units."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

import sqlalchemy as sa

from manager.db.ownership.rights import FINISHED
from manager.db.tables import holdings, host_sums, probe_orders, unit_rounds
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["RightTime", "clock_times", "probe_times", "right_times", "set_clock_times"]


@frozen
class RightTime:
    """A right that ended. since_ms: from when its agent knew of it.

    finished: its agent said so. said_pages: that it fetched, None: it did not say. requests, ms: of
    its logs so far, None: none has come; lines that say what no line can are requests, too. Of a
    crawl that continued a probe they exclude the probe's, which had a separate right.
    """

    unit_id: int
    since_ms: int
    until_ms: int
    finished: bool
    said_pages: int | None
    requests: int | None
    ms: int | None


def right_times(
    tx: Transaction, agent_id: int, round_number: int, kind: str, limit: int
) -> list[RightTime]:
    """Return an agent's rights of one kind in a round, the last to end first."""
    given = {"agent": agent_id, "round": round_number, "most": limit}
    return tx.rows(RightTime, _right_times(kind), given)


@cache
def _right_times(kind: str) -> sa.Select[Any]:
    said = probe_orders if kind == "probe" else unit_rounds
    probe = host_sums.alias("probe")
    probed = sa.and_(host_sums.c.with_probe, _is_same(probe), probe.c.kind == "probe")
    ordered = probe_orders.alias("ordered")
    own_pages: sa.ColumnElement[Any] = said.c.pages
    if kind == "crawl":
        own_pages = said.c.pages - sa.case(
            (host_sums.c.with_probe, sa.func.coalesce(ordered.c.pages, 0)), else_=0
        )
    query = (
        sa.select(
            holdings.c.unit_id,
            sa.func.coalesce(holdings.c.sent_ms, holdings.c.since_ms).label("since_ms"),
            holdings.c.until_ms,
            (holdings.c.reason == FINISHED).label("finished"),
            own_pages.label("said_pages"),
            (
                host_sums.c.requests
                + host_sums.c.odd_lines
                - sa.func.coalesce(probe.c.requests + probe.c.odd_lines, 0)
            ).label("requests"),
            (host_sums.c.ms - sa.func.coalesce(probe.c.ms, 0)).label("ms"),
        )
        .outerjoin(said, _is_same(said))
        .outerjoin(host_sums, sa.and_(_is_same(host_sums), host_sums.c.kind == holdings.c.kind))
        .outerjoin(probe, probed)
    )
    if kind == "crawl":
        query = query.outerjoin(ordered, _is_same(ordered))
    return (
        query.where(
            holdings.c.agent_id == sa.bindparam("agent"),
            holdings.c.round == sa.bindparam("round"),
            holdings.c.kind == kind,
        )
        .order_by(holdings.c.until_ms.desc(), holdings.c.unit_id)
        .limit(sa.bindparam("most"))
    )


def _is_same(other: sa.FromClause) -> sa.ColumnElement[bool]:
    """Return the condition that a row is of the agent, unit and round of a right that ended."""
    names = ("agent_id", "unit_id", "round")
    return sa.and_(*(other.c[name] == holdings.c[name] for name in names))


def clock_times(
    tx: Transaction, agent_id: int, round_number: int, kind: str, unit_ids: Collection[int]
) -> dict[int, int | None]:
    """Return the stored times that the manager's clock leaves for claims of units."""
    c = host_sums.c
    query = sa.select(c.unit_id, c.clock_ms)
    claimed = query.where(c.agent_id == agent_id, c.round == round_number, c.kind == kind)
    return dict(tx.among(claimed, c.unit_id, unit_ids))


def probe_times(
    tx: Transaction, agent_id: int, round_number: int, unit_ids: Collection[int]
) -> dict[int, int]:
    """Return the ms that count of an agent's probes which its crawls of a round continued."""
    c, probe = host_sums.c, host_sums.alias("probe")
    same = sa.and_(*(probe.c[name] == c[name] for name in ("agent_id", "unit_id", "round")))
    query = (
        sa.select(c.unit_id, sa.func.coalesce(probe.c.clock_ms, probe.c.ms))
        .join(probe, sa.and_(same, probe.c.kind == "probe"))
        .where(c.agent_id == agent_id, c.round == round_number, c.kind == "crawl", c.with_probe)
    )
    return dict(tx.among(query, c.unit_id, unit_ids))


def set_clock_times(
    tx: Transaction, agent_id: int, round_number: int, kind: str, times_ms: dict[int, int]
) -> None:
    """Write down what the manager's clock leaves for what an agent claims of units."""
    c = host_sums.c
    claimed = c.agent_id == agent_id, c.round == round_number, c.kind == kind
    rows = [{"unit_id": unit, "clock_ms": took} for unit, took in times_ms.items()]
    tx.update_each(host_sums, ["unit_id"], rows, *claimed)
