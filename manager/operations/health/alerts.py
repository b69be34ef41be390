"""Alerts: the messages that are due of the present alerts, and those that were sent.

`alert_rules` derives the alerts; `due` returns those of which a message is due. Invariant: a
alert has one key as long as it lasts, is sent when it begins, again after `resend_s`, and once
when it is over; one that must last for a while is recorded when it is seen, and sent when it has
lasted; in a maintenance window nothing is sent, and alerts that still last when it ends are sent
then. A silenced alert is sent only when it is over. A message is recorded before it is sent: a
leader that ends in between sends it never, not twice, and the reminder makes up for it. Events,
which happen once and are never over, are in `alert_events`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from manager.assignment.liveness import LivenessState
from manager.db.engine import Database, Transaction
from manager.db.health import alerts
from manager.db.health.alerts import ToldRow
from manager.operations.actor import CLOCK, note
from manager.operations.alert import Alert
from manager.operations.health.alert_events import (
    current_key,
    mark_first_events,
    news,
    record_sent,
)
from manager.operations.health.alert_rules import Expiry, present_alerts
from manager.operations.health.system_figures import SystemFigures
from manager.settings import AlertSettings
from shared.frozen import frozen
from shared.messages import Message, row_of_message

__all__ = ["Notification", "due", "note_notification", "notifications"]

TEXT: Final = 500

LARGEST: Final = 8_000
SENT: Final = {
    "begun": "alert.send",
    "still": "alert.repeat",
    "over": "alert.end",
    "event": "alert.send-event",
}
"""Actions in the audit by the state of a notification."""
"""Characters of a message in a row; a longer one, which parameters from outside make, is stored as
text."""

AWAY: Final = (LivenessState.ASLEEP, LivenessState.LATE, LivenessState.LOST)

HELD_MS: Final = 3_600_000
"""So long an agent must have been idle for that to be remembered while it is away."""


@frozen
class Notification:
    """A message to recipients. state: begun, still, over; event: it happened, and is never over."""

    key: str
    state: str
    message: Message
    since_ms: int


def due(
    found: Sequence[Alert],
    told: Sequence[ToldRow],
    resend_s: float,
    now_ms: int,
    *,
    quiet: bool,
    silenced: Collection[str] = (),
) -> list[Notification]:
    """Return the messages due now. told: the alerts that last. quiet: a window is open.

    silenced: keys of alerts that a person silenced; such a one is sent when it is over.
    """
    if quiet:
        return []
    before = {row.key: row for row in told}
    made = []
    for alert in found:
        row = before.pop(alert.key, None)
        if alert.key in silenced:
            continue
        if row is None or not row.told_ms:
            since_ms = now_ms if row is None else row.since_ms
            if now_ms - since_ms >= alert.after_s * 1000:
                made.append(Notification(alert.key, "begun", alert.message, since_ms))
        elif resend_s and now_ms - row.told_ms >= resend_s * 1000:
            made.append(Notification(alert.key, "still", alert.message, row.since_ms))
    made += [
        Notification(row.key, "over", row.message, row.since_ms)
        for row in before.values()
        if row.told_ms
    ]
    return made


def notifications(
    db: Database,
    seen: SystemFigures,
    expiries: Sequence[Expiry],
    limits: AlertSettings,
    now_ms: int,
    more: Sequence[Alert] = (),
) -> list[Notification]:
    """Return what is to be told now, and write down that it was.

    more: alerts that only the caller knows of.
    """
    found = [*present_alerts(db, seen, expiries, limits, now_ms), *more]
    with db.read() as tx:
        told = [row for row in alerts.all_told(tx) if not _is_held(row, seen, now_ms)]
        open_keys = {
            current_key(row.key) for row in alerts.silences_since(tx, now_ms) if row.holds(now_ms)
        }
        quiet = "" in open_keys
        happened = news(tx, open_keys, now_ms, quiet=quiet)
    made = due(found, told, limits.repeat_interval_s, now_ms, quiet=quiet, silenced=open_keys)
    made += [Notification(one.key, "event", one.message, one.since_ms) for one in happened.events]
    seen_now = {one.key for one in found}
    known = {row.key for row in told}
    begins = [one for one in found if one.after_s and one.key not in known]
    ends = [row.key for row in told if not row.told_ms and row.key not in seen_now]
    is_first = not happened.upto and not happened.is_marked
    if not (made or happened.upto or begins or ends or is_first):
        return []
    with db.write() as tx:
        record_sent(tx, happened)
        if is_first:
            mark_first_events(tx, now_ms)
        for one in begins:
            alerts.note_told(tx, one.key, _bounded(one.message), now_ms, 0)
        for key in ends:
            alerts.forget(tx, key)
        for each in made:
            if each.state == "over":
                alerts.forget(tx, each.key)
            elif each.state != "event":
                alerts.note_told(tx, each.key, _bounded(each.message), each.since_ms, now_ms)
            _note(tx, each, now_ms)
    return made


def _is_held(row: ToldRow, seen: SystemFigures, now_ms: int) -> bool:
    """Return whether an alert neither lasts nor is over: its agent, idle before, is away now.

    An alert that has only begun is over then: an agent that sleeps was not idle for hours.
    """
    kind, _, name = row.key.partition(":")
    if kind != "idle" or (not row.told_ms and now_ms - row.since_ms < HELD_MS):
        return False
    return any(one.row.name == name and one.liveness.state in AWAY for one in seen.views)


def note_notification(db: Database, made: Notification, now_ms: int) -> None:
    """Write down that recipients were notified at a moment. Raises BusyError."""
    with db.write() as tx:
        _note(tx, made, now_ms)


def _note(tx: Transaction, made: Notification, now_ms: int) -> None:
    note(tx, now_ms, CLOCK, SENT[made.state], made.key, text=_bounded(made.message))


def _bounded(message: Message) -> Message:
    if len(row_of_message(message)) <= LARGEST:
        return message
    return Message.of_text(str(message)[:TEXT])
