"""Alerts for the console: present alerts, recipients, the time of the next message, a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from manager.db.engine import Database
from manager.db.health import alerts
from manager.db.health.alerts import EventsTold, SilenceRow
from manager.errors import PrsmError
from manager.message_fields import message_fields
from manager.operations.actor import Actor, note_alone
from manager.operations.alert import Alert
from manager.operations.health.alert_events import HOLD_MS, Event, current_key, events_of_a_day
from manager.operations.health.alert_rules import Expiry, present_alerts
from manager.operations.health.alerts import Notification
from manager.operations.health.silences import list_silences
from manager.operations.health.system_figures import SystemFigures
from manager.settings import AlertSettings
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "WAY",
    "AlertDesk",
    "Alerts",
    "OngoingAlert",
    "SentTest",
    "Way",
    "current_alerts",
    "send_test",
    "unsent_reason",
]

WAY: Final = "way:"
"""Prefix of the key of the alert that a way of notification reaches no recipient."""
ERROR_CHARS: Final = 500


@frozen
class Way:
    """Delivery of alerts. to: recipients, without secrets. send: raises PrsmError, or anything."""

    name: str
    to: str
    send: Callable[[Sequence[Notification]], None]


@frozen
class AlertDesk:
    """Inputs of alerts: figures, expiries, thresholds, and recipients.

    expiries: raises nothing; what cannot be read says so. own: alerts of this manager's machine.
    """

    standing: Callable[[], SystemFigures]
    expiries: Callable[[], Sequence[Expiry]]
    own: Callable[[], Sequence[Alert]]
    settings: AlertSettings
    ways: Sequence[Way]


@message_fields
@frozen
class OngoingAlert:
    """An alert that lasts, or events of one kind within a day.

    since_ms, told_ms: None: it was not sent yet. next_ms: when it is sent (again); None: never.
    silence: the reason why it is not sent, where a person silenced it.
    """

    key: str
    text: Message
    since_ms: int | None
    told_ms: int | None
    next_ms: int | None
    silence: SilenceRow | None


@frozen
class Alerts:
    """All present alerts. quiet_until_ms: the end of the open window; 0: none is open."""

    troubles: list[OngoingAlert]
    silences: list[SilenceRow]
    quiet_until_ms: int
    told_to: list[str]


@message_fields
@frozen
class SentTest:
    """Outcome of a test message. error: None: it was accepted."""

    way: str
    to: str
    error: Message | None


def current_alerts(db: Database, desk: AlertDesk, now_ms: int) -> Alerts:
    """Return what is wrong now, and what happened within a day.

    Alerts that were sent and are over since the last look are left out.
    """
    resend_s = desk.settings.repeat_interval_s
    found = [
        *present_alerts(db, desk.standing(), desk.expiries(), desk.settings, now_ms),
        *desk.own(),
    ]
    silences = list_silences(db, now_ms)
    with db.read() as tx:
        happened, mark = events_of_a_day(tx, now_ms), alerts.events_told(tx)
        told = {row.key: row for row in alerts.all_told(tx)}
    # Only who sends knows of these, and that is another manager, maybe.
    found += [Alert(row.key, row.message) for row in told.values() if row.key.startswith(WAY)]
    open_now = {current_key(row.key): row for row in silences if row.holds(now_ms)}
    window = open_now.get("")
    going = []
    for alert in found:
        row = told.get(alert.key)
        lasted_ms = 0 if row is None else now_ms - row.since_ms
        if (row is None or not row.told_ms) and lasted_ms < alert.after_s * 1000:
            continue
        silence = open_now.get(alert.key) or window
        due_ms: int | None = now_ms
        if row is not None and row.told_ms:
            due_ms = row.told_ms + round(resend_s * 1000) if resend_s else None
        if silence is not None and due_ms is not None:
            due_ms = max(due_ms, silence.until_ms)
        going.append(
            OngoingAlert(
                alert.key,
                alert.message,
                None if row is None else row.since_ms,
                None if row is None else row.told_ms or None,
                due_ms if desk.ways else None,
                silence,
            )
        )
    for event in happened:
        silence = open_now.get(event.key) or window
        going.append(_of_event(event, mark, silence, now_ms, tells=bool(desk.ways)))
    return Alerts(
        sorted(going, key=lambda one: (one.silence is not None, -(one.since_ms or now_ms))),
        silences,
        max((row.until_ms for row in silences if not row.key and row.holds(now_ms)), default=0),
        [f"{way.name}: {way.to}" for way in desk.ways],
    )


def _of_event(
    event: Event, mark: EventsTold | None, silence: SilenceRow | None, now_ms: int, *, tells: bool
) -> OngoingAlert:
    """Return events of one kind, which are sent once. tells: whether there are recipients."""
    told_ms = next_ms = None
    if mark is not None and event.last_id <= mark.upto:
        told_ms = mark.told_ms if mark.told_ms >= event.since_ms else None
    elif silence is not None and tells:
        # A silenced kind is not sent; a maintenance window only delays the message.
        next_ms = None if silence.key else silence.until_ms
    elif tells:
        next_ms = now_ms if mark is None else max(now_ms, mark.told_ms + HOLD_MS)
    return OngoingAlert(
        key=event.key,
        text=event.message,
        since_ms=event.since_ms,
        told_ms=told_ms,
        next_ms=next_ms,
        silence=silence,
    )


def unsent_reason(error: Exception) -> Message:
    """Return why a message was not delivered; an unexpected error with its class."""
    if isinstance(error, PrsmError):
        return error.message
    return Message(
        "alerts.unexpected_error", kind=type(error).__name__, text=str(error)[:ERROR_CHARS]
    )


def send_test(db: Database, desk: AlertDesk, actor: Actor, now_ms: int) -> list[SentTest]:
    """Send all recipients of alerts a message that says it is only a test."""
    made = [Notification("test:", "begun", Message("alerts.test_message", name=actor.name), now_ms)]
    results = []
    for way in desk.ways:
        try:
            way.send(made)
        except Exception as error:  # noqa: BLE001 - one way that fails does not hold up the other
            results.append(SentTest(way.name, way.to, unsent_reason(error)))
        else:
            results.append(SentTest(way.name, way.to, None))
    said = {result.way: result.error or "accepted" for result in results}
    note_alone(db, now_ms, actor, "delivery.test", "", results=said)
    return results
