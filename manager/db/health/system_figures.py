"""Counts of everything, for metrics and alerts."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables import (
    assignments,
    audit,
    hosts,
    reports,
    rounds,
    segments,
    transfers,
    unit_rounds,
)
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "Totals",
    "has_hosts",
    "last_backup_ms",
    "last_round_ms",
    "moved_since",
    "totals",
    "transfers_by_state",
    "units",
]

_IS_BACKUP: Final = sa.text("action = 'manager.backup'")
"""As the index of these has it: a database uses it for the same words only."""


@frozen
class Totals:
    """Counts of everything."""

    alerts: int
    reports: int
    lines: int
    segments: int
    segment_bytes: int


def totals(tx: Transaction) -> Totals:
    """Return the sums over tables that grow with the crawl's logs and segments, not its pages."""
    public = segments.c.kind == "public", segments.c.state == "current"
    summed = tx.execute(
        sa.select(
            sa.select(sa.func.count()).select_from(audit).where(audit.c.alert).scalar_subquery(),
            sa.select(sa.func.count()).select_from(reports).scalar_subquery(),
            sa.select(sa.func.sum(reports.c.lines)).scalar_subquery(),
            sa.select(sa.func.count()).select_from(segments).where(*public).scalar_subquery(),
            sa.select(sa.func.sum(segments.c.size_bytes)).where(*public).scalar_subquery(),
        )
    ).one()
    return Totals(*(int(value or 0) for value in summed))


def has_hosts(tx: Transaction) -> bool:
    """Return whether there is anything to crawl."""
    return tx.value(sa.select(hosts.c.id).limit(1)) is not None


def last_round_ms(tx: Transaction) -> int:
    """Return when the newest round began, 0: there was none."""
    return int(tx.value(sa.select(sa.func.max(rounds.c.started_ms))) or 0)


def last_backup_ms(tx: Transaction) -> int:
    """Return when the newest whole backup was made, 0: there was none."""
    newest = sa.select(audit.c.at_ms).where(_IS_BACKUP)
    return int(tx.value(newest.order_by(audit.c.id.desc()).limit(1)) or 0)


def moved_since(tx: Transaction, moment_ms: int) -> int:
    """Return how many assignments were closed since then."""
    return tx.count(assignments, assignments.c.until_ms >= moment_ms)


def units(tx: Transaction, number: int) -> dict[str, int]:
    """Return how many units of a round are in each state."""
    return tx.counts(unit_rounds.c.state, unit_rounds.c.round == number)


def transfers_by_state(tx: Transaction) -> dict[str, int]:
    """Return how many transfers are in each state."""
    return tx.counts(transfers.c.state)
