"""Times of rights by the manager's clock, beside what the logs claim of their units."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

import sqlalchemy as sa

from manager.db.engine import Transaction, chunks
from manager.db.ownership.rights import FINISHED
from manager.db.tables import holdings, host_sums, probe_orders, unit_rounds
from shared.frozen import frozen

__all__ = ["RightTime", "clock_times", "right_times", "set_clock_times"]


@frozen
class RightTime:
    """A right that ended. since_ms: from when its agent knew of it.

    finished: its agent said so. said_pages: that it fetched, None: it did not say. requests, ms: of
    its logs so far, None: none has come; lines that say what no line can are requests, too.
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
    return (
        sa.select(
            holdings.c.unit_id,
            sa.func.coalesce(holdings.c.sent_ms, holdings.c.since_ms).label("since_ms"),
            holdings.c.until_ms,
            (holdings.c.reason == FINISHED).label("finished"),
            said.c.pages.label("said_pages"),
            (host_sums.c.requests + host_sums.c.odd_lines).label("requests"),
            host_sums.c.ms,
        )
        .join(
            said,
            sa.and_(
                said.c.agent_id == holdings.c.agent_id,
                said.c.unit_id == holdings.c.unit_id,
                said.c.round == holdings.c.round,
            ),
            isouter=True,
        )
        .join(
            host_sums,
            sa.and_(
                host_sums.c.agent_id == holdings.c.agent_id,
                host_sums.c.unit_id == holdings.c.unit_id,
                host_sums.c.round == holdings.c.round,
                host_sums.c.kind == holdings.c.kind,
            ),
            isouter=True,
        )
        .where(
            holdings.c.agent_id == sa.bindparam("agent"),
            holdings.c.round == sa.bindparam("round"),
            holdings.c.kind == kind,
        )
        .order_by(holdings.c.until_ms.desc(), holdings.c.unit_id)
        .limit(sa.bindparam("most"))
    )


def clock_times(
    tx: Transaction, agent_id: int, round_number: int, kind: str, unit_ids: Collection[int]
) -> dict[int, int | None]:
    """Return the stored times that the manager's clock leaves for claims of units."""
    found: dict[int, int | None] = {}
    for part in chunks(unit_ids):
        rows = tx.execute(
            sa.select(host_sums.c.unit_id, host_sums.c.clock_ms).where(
                host_sums.c.agent_id == agent_id,
                host_sums.c.round == round_number,
                host_sums.c.kind == kind,
                host_sums.c.unit_id.in_(part),
            )
        )
        found.update({row.unit_id: row.clock_ms for row in rows})
    return found


def set_clock_times(
    tx: Transaction, agent_id: int, round_number: int, kind: str, times_ms: dict[int, int]
) -> None:
    """Write down what the manager's clock leaves for what an agent claims of units."""
    if not times_ms:
        return
    tx.execute(
        host_sums.update()
        .where(
            host_sums.c.agent_id == agent_id,
            host_sums.c.round == round_number,
            host_sums.c.kind == kind,
            host_sums.c.unit_id == sa.bindparam("unit"),
        )
        .values(clock_ms=sa.bindparam("took")),
        [{"unit": unit, "took": took} for unit, took in times_ms.items()],
    )
