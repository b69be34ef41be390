"""Silences: maintenance windows, and acknowledged alerts.

A silence has a reason and an end; nothing is silent for ever. Invariant: rows are only added and
ended, so the page can say who silenced what, when and why.
"""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.health import alerts
from manager.db.health.alerts import SilenceRow
from manager.errors import NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.health.alert_events import current_key
from shared.errors import FormatError

__all__ = [
    "LONGEST_MS",
    "SilenceRow",
    "add_window",
    "end_quiet",
    "end_silence",
    "list_silences",
    "open_silences",
    "silence",
    "silence_all",
]

DAY_MS: Final = 86_400_000
LONGEST_MS: Final = 30 * DAY_MS
AHEAD_MS: Final = 400 * DAY_MS
REASON_MOST: Final = 500
SHOWN_MS: Final = 30 * DAY_MS


def silence(db: Database, key: str, until_ms: int, reason: str, actor: Actor, now_ms: int) -> None:
    """Silence one alert until a moment, but for its end. Raises FormatError.

    key: as the alert has it, `agent:robot.example.ac.jp`; it need not be open now.
    """
    if not key.strip() or len(key) > REASON_MOST:
        raise FormatError("alerts.silence_key_missing")
    if not reason.strip():
        raise FormatError("alerts.silence_reason_missing").about("reason")
    why = _check(now_ms, until_ms, reason, now_ms)
    with db.write() as tx:
        key = current_key(key)
        alerts.add_silence(tx, key, now_ms, until_ms, why, actor.name, now_ms)
        note(tx, now_ms, actor, "alert.silence", key, until_ms=until_ms, reason=why)


def add_window(
    db: Database, from_ms: int, until_ms: int, reason: str, actor: Actor, now_ms: int
) -> None:
    """Silence all alerts from one moment to another: maintenance. Raises FormatError."""
    why = _check(from_ms, until_ms, reason, now_ms)
    with db.write() as tx:
        alerts.add_silence(tx, "", from_ms, until_ms, why, actor.name, now_ms)
        note(
            tx, now_ms, actor, "maintenance.add", "", from_ms=from_ms, until_ms=until_ms, reason=why
        )


def silence_all(db: Database, until_ms: int, reason: str, actor: Actor, now_ms: int) -> None:
    """Begin a maintenance window now; an end that is past ends those that are open."""
    if until_ms > now_ms:
        add_window(db, now_ms, until_ms, reason, actor, now_ms)
    else:
        end_quiet(db, actor, now_ms)


def end_quiet(db: Database, actor: Actor, now_ms: int) -> None:
    """End all maintenance windows that are open; the next look sends alerts that last."""
    with db.write() as tx:
        for row in alerts.silences_since(tx, now_ms):
            if not row.key and row.holds(now_ms):
                _end(tx, row, actor, now_ms)


def end_silence(db: Database, number: int, actor: Actor, now_ms: int) -> None:
    """End a silence or a window, or take back one that is to come. Raises NotFoundError.

    One that is over changes nothing.
    """
    with db.write() as tx:
        row = alerts.silence_by_id(tx, number)
        if row is None:
            raise NotFoundError("alerts.unknown_silence", number=number, see="alerts silences")
        if row.ended_ms is None and row.until_ms > now_ms:
            _end(tx, row, actor, now_ms)


def list_silences(db: Database, now_ms: int) -> list[SilenceRow]:
    """Return the silences that are open, planned, or over within the last month."""
    with db.read() as tx:
        return alerts.silences_since(tx, now_ms - SHOWN_MS)


def open_silences(db: Database, now_ms: int) -> list[SilenceRow]:
    """Return the silences that are open or planned. Raises BusyError."""
    with db.read() as tx:
        return [row for row in alerts.silences_since(tx, now_ms) if row.ended_ms is None]


def _end(tx: Transaction, row: SilenceRow, actor: Actor, now_ms: int) -> None:
    alerts.end_silence(tx, row.id, now_ms)
    note(
        tx,
        now_ms,
        actor,
        "alert.end-silence" if row.key else "maintenance.end",
        row.key,
        silence=row.id,
    )


def _check(from_ms: int, until_ms: int, reason: str, now_ms: int) -> str:
    """Return the reason, stripped. Raises FormatError."""
    if until_ms <= max(from_ms, now_ms):
        raise FormatError("alerts.silence_until_past").about("until")
    if until_ms - from_ms > LONGEST_MS:
        raise FormatError("alerts.silence_too_long", most=LONGEST_MS // DAY_MS).about("until")
    if from_ms - now_ms > AHEAD_MS:
        raise FormatError("alerts.silence_too_far_ahead", most=AHEAD_MS // DAY_MS).about("from")
    if len(reason) > REASON_MOST:
        too_long = FormatError("general.reason_too_long", length=len(reason), most=REASON_MOST)
        raise too_long.about("reason")
    return reason.strip()
