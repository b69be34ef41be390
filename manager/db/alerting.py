"""Troubles that somebody was told of and that go on."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import alerts_told, clock

__all__ = ["ToldRow", "all_told", "forget", "note_told", "quiet_until", "set_quiet"]


@dataclass(frozen=True, slots=True)
class ToldRow:
    """A trouble. told_ms: when it was told last."""

    key: str
    text: str
    since_ms: int
    told_ms: int


def all_told(tx: Transaction) -> list[ToldRow]:
    """Return the troubles that go on, the oldest first."""
    return tx.rows(ToldRow, sa.select(alerts_told).order_by(alerts_told.c.since_ms))


def note_told(tx: Transaction, key: str, text: str, since_ms: int, now_ms: int) -> None:
    """Note that somebody was told."""
    row = {"key": key, "text": text, "since_ms": since_ms, "told_ms": now_ms}
    tx.upsert(alerts_told, [row], ["key"])


def forget(tx: Transaction, key: str) -> None:
    """Note that a trouble is over."""
    tx.execute(alerts_told.delete().where(alerts_told.c.key == key))


def quiet_until(tx: Transaction) -> int:
    """Return until when nobody is told of troubles; 0: they are."""
    return int(tx.value(sa.select(clock.c.quiet_until_ms)) or 0)


def set_quiet(tx: Transaction, until_ms: int) -> None:
    """Tell nobody until a moment."""
    tx.upsert(clock, [{"id": 1, "quiet_until_ms": until_ms}], ["id"])
