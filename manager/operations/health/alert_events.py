"""Audit rows that are alerts, sent as they come.

Unlike an alert such an event is never over. Invariants: each is sent once, by the number of the
last one that was sent; those of one look are one message for each kind, and looks that send are
`HOLD_MS` apart, so a flood is a few messages with a count. An event of a silenced kind is passed
over; in a maintenance window events wait for its end. Events that are also alerts are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.health import alerts
from manager.db.people import audit_log
from manager.db.people.audit_log import AuditRow
from manager.operations.audit_actions import current_action, first_name
from shared.frozen import frozen
from shared.messages import Message, template

__all__ = [
    "HOLD_MS",
    "KIND",
    "Event",
    "UnsentEvents",
    "current_key",
    "events_of_a_day",
    "first_key",
    "news",
    "record_sent",
]

KIND: Final = "event:"
"""Prefix of an event's key; the action follows it."""
DAY_MS: Final = 86_400_000
HOLD_MS: Final = 600_000
MOST: Final = 10_000
"""Rows looked at; more wait for the next time."""
NAMED: Final = 3
NAME: Final = 100
REASON: Final = 200

_TROUBLES: Final = ("agent.mark-lost", "agent.update-")
"""Prefixes of the actions that are sent as alerts, until they are over."""


@frozen
class Event:
    """Events of one kind. key: `event:ACTION`. since_ms: the first. last_id: of the audit."""

    key: str
    message: Message
    since_ms: int
    last_id: int


@frozen
class UnsentEvents:
    """Events to send, up to a number; told_ms: when an event was sent last.

    upto: 0: nothing came. is_marked: the number after which events are sent is recorded.
    """

    events: list[Event]
    upto: int
    told_ms: int
    is_marked: bool = True


def current_key(key: str) -> str:
    """Return the key of an alert with the action's name of today, of a key by either name."""
    return _renamed(key, current_action)


def first_key(key: str) -> str:
    """Return the key of an alert with the action's first name, by which webhooks know it."""
    return _renamed(key, first_name)


def _renamed(key: str, name_of: Callable[[str], str]) -> str:
    return f"{KIND}{name_of(key.removeprefix(KIND))}" if key.startswith(KIND) else key


def news(
    tx: Transaction, silenced: Collection[str], now_ms: int, *, quiet: bool = False
) -> UnsentEvents:
    """Return the events that were not sent yet, where their time has come.

    Before the first message ever, those of the last day. quiet: a window is open, nothing is sent.
    """
    mark = alerts.events_told(tx)
    told_ms = 0 if mark is None else mark.told_ms
    if quiet or (mark is not None and 0 <= now_ms - told_ms < HOLD_MS):
        rows = []
    elif mark is None:
        rows = audit_log.alerts_after(tx, 0, now_ms - DAY_MS, MOST)
    else:
        rows = audit_log.alerts_after(tx, mark.upto, 0, MOST)
    if not rows:
        return UnsentEvents([], 0, told_ms, is_marked=mark is not None)
    found = [one for one in _events(rows) if one.key not in silenced]
    return UnsentEvents(found, rows[-1].id, now_ms if found else told_ms)


def mark_first_events(tx: Transaction, now_ms: int) -> None:
    """Record the number after which events are sent: those of a day before the first look.

    Else events of a first window that lasts longer than a day would never be sent.
    """
    alerts.note_events(tx, audit_log.last_id_before(tx, now_ms - DAY_MS), 0)


def record_sent(tx: Transaction, found: UnsentEvents) -> None:
    """Write down that these were told."""
    if found.upto:
        alerts.note_events(tx, found.upto, found.told_ms)


def events_of_a_day(tx: Transaction, now_ms: int) -> list[Event]:
    """Return what happened within a day, told or not."""
    return _events(audit_log.alerts_after(tx, 0, now_ms - DAY_MS, MOST))


def _events(rows: Iterable[AuditRow]) -> list[Event]:
    """Return rows as one event for each action, in the order in which they began."""
    by_action: dict[str, list[AuditRow]] = {}
    for row in rows:
        action = current_action(row.action)
        if not action.startswith(_TROUBLES):
            by_action.setdefault(action, []).append(row)
    return [
        Event(f"{KIND}{action}", _message(action, of_it), of_it[0].at_ms, of_it[-1].id)
        for action, of_it in by_action.items()
    ]


def _message(action: str, rows: Sequence[AuditRow]) -> Message:
    about = _about(rows)
    code = f"alerts.event_{action.replace('.', '_').replace('-', '_')}"
    if template(code) is None:
        return Message("alerts.event_other", action=action, about=about)
    return Message(code, about=about)


def _about(rows: Sequence[AuditRow]) -> Message | None:
    """Return the names that events are about, and how many they are, or why the only one was."""
    names = list(dict.fromkeys(row.subject[:NAME] for row in rows if row.subject))[:NAMED]
    times, reason = len(rows), _reason(rows[0])
    if times > 1:
        if names:
            return Message("alerts.event_about_times", names=names, times=times)
        return Message("alerts.event_times", times=times)
    if reason is not None:
        if names:
            return Message("alerts.event_about_reason", names=names, reason=reason)
        return Message("alerts.event_reason", reason=reason)
    return Message("alerts.event_about", names=names) if names else None


def _reason(row: AuditRow) -> Message | str | None:
    try:
        told = json.loads(row.detail or "{}")
    except ValueError:
        return None
    reason = told.get("reason") if isinstance(told, dict) else None
    if isinstance(reason, str) and reason:
        return reason[:REASON]
    return Message.of_json(reason)
