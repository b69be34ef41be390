"""Alert desk: looks for alerts by the clock, and retries mail and webhook until they succeed.

Invariant: a failing channel, however it fails, does not block the other; undelivered messages are
retried with the next look, bounded, also while this manager does not lead (`database_outage`).
A channel that takes nothing for a while is an alert itself.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from manager.clock import Clock
from manager.db import Database
from manager.errors import PrsmError
from manager.operations.alert import Alert
from manager.operations.health.alert_views import WAY, AlertDesk, Way, unsent_reason
from manager.operations.health.alerts import Notification, notifications
from shared.messages import Message

__all__ = ["Alerts", "late_job_alerts"]

WAITING: Final = 1_000
DEAF_S: Final = 600.0
"""A mail server may ask for a retry some minutes later; that is no alert."""

_log: Final = logging.getLogger(__name__)


@dataclass
class _Line:
    """Messages that wait for a channel, and since when it fails; None: it took the last."""

    way: Way
    waiting: deque[Notification] = field(default_factory=lambda: deque(maxlen=WAITING))
    deaf_ms: int | None = None
    why: Message | None = None

    def send(self, now_ms: int) -> None:
        if not self.waiting:
            return
        try:
            self.way.send(list(self.waiting))
        except Exception as error:  # noqa: BLE001 - the other ways are to be tried
            self.deaf_ms = now_ms if self.deaf_ms is None else self.deaf_ms
            self.why = unsent_reason(error)
            unforeseen = None if isinstance(error, PrsmError) else error
            _log.warning(
                "%s: %s; %d messages wait for the next try", self.way.name, self.why,
                len(self.waiting), exc_info=unforeseen,
            )  # fmt: skip
        else:
            self.waiting.clear()
            self.deaf_ms = None


class Alerts:
    """Sends alerts to administrators; called by the clock.

    `look` never runs twice at once; `tell` may, beside it. Alerts are recorded when they begin and
    end even if there is no recipient.
    """

    def __init__(self, db: Database, desk: AlertDesk, now_ms: Callable[[], int]) -> None:
        self._db = db
        self._desk = desk
        self._lines = [_Line(way) for way in desk.ways]
        self._now_ms = now_ms
        self._sending = threading.Lock()

    def look(self) -> int:
        """Send what is due; return how much.

        Raises BusyError if the database is unreachable, after a retry of the waiting messages: the
        clock logs a line and calls again.
        """
        now_ms, desk = self._now_ms(), self._desk
        made: list[Notification] = []
        try:
            own = [*desk.own(), *self._deaf(now_ms)]
            made = notifications(
                self._db, desk.standing(), desk.expiries(), desk.settings, now_ms, own
            )
        finally:
            self.tell(made, now_ms)
        return len(made)

    def tell(self, made: Sequence[Notification], now_ms: int) -> None:
        """Hand messages to each channel, behind its waiting ones. Makes no query."""
        with self._sending:
            for line in self._lines:
                line.waiting.extend(made)
                line.send(now_ms)

    def _deaf(self, now_ms: int) -> list[Alert]:
        """Return the ways that take nothing."""
        return [
            Alert(
                f"{WAY}{line.way.name}",
                Message("alerts.delivery_failing", way=line.way.name, why=line.why),
            )
            for line in self._lines
            if line.deaf_ms is not None and now_ms - line.deaf_ms >= DEAF_S * 1000
        ]


def late_job_alerts(clocks: Iterable[Clock]) -> list[Alert]:
    """Return the jobs of clocks that are beyond their limits."""
    found = []
    for job in (job for clock in clocks for job in clock.late_jobs()):
        late_ms = round(job.late_s * 1000)
        late = Message("alerts.job_late", job=job.name, late_ms=late_ms, effect=job.effect)
        found.append(Alert(f"job:{job.name}", late))
    return found
