"""Active alerts that were sent, and silences."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables import alert_silences, alerts_told
from manager.db.transaction import Transaction
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "EventsTold",
    "SilenceRow",
    "ToldRow",
    "add_silence",
    "all_told",
    "end_silence",
    "events_told",
    "forget",
    "note_events",
    "note_told",
    "silence_by_id",
    "silences_since",
]

_EVENTS: Final = "events"
"""The row that is no alert: its text is the number of the last audit row that was sent."""


@frozen
class EventsTold:
    """Up to which number of the audit events were told; told_ms: when the last was, 0: never."""

    upto: int
    told_ms: int


@frozen
class ToldRow:
    """An alert. told_ms: when it was last sent; 0: never, it has not lasted long enough yet."""

    key: str
    message: Message
    since_ms: int
    told_ms: int


@frozen
class SilenceRow:
    """A silence. key: of one alert; empty: of all. ended_ms: before its time."""

    id: int
    key: str
    from_ms: int
    until_ms: int
    reason: str
    made_by: str
    made_ms: int
    ended_ms: int | None

    def holds(self, now_ms: int) -> bool:
        """Return whether the silence is in force at a moment."""
        return self.ended_ms is None and self.from_ms <= now_ms < self.until_ms


def all_told(tx: Transaction) -> list[ToldRow]:
    """Return the active alerts, the oldest first."""
    c = alerts_told.c
    query = sa.select(c.key, c.text.label("message"), c.since_ms, c.told_ms)
    return tx.rows(ToldRow, query.where(c.key != _EVENTS).order_by(c.since_ms))


def events_told(tx: Transaction) -> EventsTold | None:
    """Return which events were told; None: there was none yet."""
    c = alerts_told.c
    upto = sa.type_coerce(c.text, sa.Text()).label("upto")
    row = tx.execute(sa.select(upto, c.told_ms).where(c.key == _EVENTS)).one_or_none()
    return None if row is None else EventsTold(int(row.upto), row.told_ms)


def note_events(tx: Transaction, upto: int, told_ms: int) -> None:
    """Note which events were told."""
    _note(tx, _EVENTS, str(upto), told_ms, told_ms)


def note_told(tx: Transaction, key: str, message: Message, since_ms: int, now_ms: int) -> None:
    """Record that recipients were notified of an alert."""
    _note(tx, key, message, since_ms, now_ms)


def _note(tx: Transaction, key: str, text: Message | str, since_ms: int, now_ms: int) -> None:
    row = {"key": key, "text": text, "since_ms": since_ms, "told_ms": now_ms}
    tx.upsert(alerts_told, [row], ["key"])


def forget(tx: Transaction, key: str) -> None:
    """Record that an alert is over."""
    tx.execute(alerts_told.delete().where(alerts_told.c.key == key))


def add_silence(
    tx: Transaction, key: str, from_ms: int, until_ms: int, reason: str, made_by: str, now_ms: int
) -> None:
    """Silence an alert, or all if the key is empty, from one moment to another."""
    row = {
        "key": key,
        "from_ms": from_ms,
        "until_ms": until_ms,
        "reason": reason,
        "made_by": made_by,
        "made_ms": now_ms,
    }
    tx.insert(alert_silences, [row])


def end_silence(tx: Transaction, number: int, now_ms: int) -> None:
    """End a silence before its time."""
    tx.execute(alert_silences.update().where(alert_silences.c.id == number).values(ended_ms=now_ms))


def silence_by_id(tx: Transaction, number: int) -> SilenceRow | None:
    """Return the silence of this number."""
    return tx.row(SilenceRow, sa.select(alert_silences).where(alert_silences.c.id == number))


def silences_since(tx: Transaction, since_ms: int) -> list[SilenceRow]:
    """Return the silences that are open, planned, or ended since a moment; the last first."""
    c = alert_silences.c
    query = sa.select(alert_silences).where(c.until_ms > since_ms)
    return tx.rows(SilenceRow, query.order_by(c.from_ms.desc(), c.id.desc()))
