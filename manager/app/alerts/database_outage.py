"""Alerts on a database that does not answer, sent without asking it.

Each manager sends them by itself: while the database is unreachable there is no leader, and no
manager knows of the others. Sent alerts are kept in memory. Invariant: `look` makes no query, so
a hanging database does not block it; `remember`, which does, is another job.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from manager.app.alerts.alerts import Alerts
from manager.db import Database
from manager.operations.health.alerts import Notification, note_notification
from manager.operations.health.silences import SilenceRow, open_silences
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Outages", "Signs"]

UNWRITTEN: Final = 100


@frozen
class Signs:
    """Facts that a manager knows of its database without asking it.

    host, place: the manager's machine, and its name for people. gone_s: for how long the database
    has not answered, in s; 0: it does. leads: whether this manager leads. why: where the
    manager knows it: its file is damaged, its disk is full; None: it does not.
    """

    host: str
    place: str
    gone_s: Callable[[], float]
    leads: Callable[[], bool]
    why: Callable[[], Message | None] = lambda: None


@dataclass(eq=False)
class Outages:
    """Says begun, still and over of one manager's database; called by the clock.

    grace_s: how long an outage may last before an alert is sent; 0: none is sent. resend_s: the
    time until the alert is sent again; 0: never.
    """

    db: Database
    alerts: Alerts
    signs: Signs
    grace_s: float
    resend_s: float
    now_ms: Callable[[], int]
    _begun: Notification | None = None
    _over: Notification | None = None  # that waits for the end of a window
    _told_ms: int = 0
    _silences: Sequence[SilenceRow] = ()
    _unwritten: deque[tuple[Notification, int]] = field(
        default_factory=lambda: deque(maxlen=UNWRITTEN)
    )

    def look(self) -> int:
        """Send due messages; return how many. Waiting ones are retried while there is no leader."""
        now_ms, gone_s = self.now_ms(), self.signs.gone_s()
        made = self._due(gone_s, now_ms)
        if made or gone_s or not self.signs.leads():
            self._unwritten.extend((one, now_ms) for one in made)
            self.alerts.tell(made, now_ms)
        return len(made)

    def remember(self) -> None:
        """Load the times of silence, for use in an outage of the database; record sent alerts.

        Does nothing during an outage. Raises BusyError.
        """
        if self.signs.gone_s():
            return
        self._silences = open_silences(self.db, self.now_ms())
        while self._unwritten:
            made, told_ms = self._unwritten[0]
            note_notification(self.db, made, told_ms)
            self._unwritten.popleft()

    def _due(self, gone_s: float, now_ms: int) -> list[Notification]:
        holding = {row.key for row in self._silences if row.holds(now_ms)}
        begun = self._begun
        if begun is not None and not gone_s:
            self._over, self._begun = self._notification("over", begun.since_ms, now_ms), None
        if "" in holding:
            return []
        if self._over is not None:
            over, self._over = self._over, None
            return [over]
        if not gone_s or not self.grace_s or f"database:{self.signs.host}" in holding:
            return []
        # A known reason does not pass without a person.
        if gone_s < self.grace_s and self.signs.why() is None:
            return []
        if begun is None:
            self._begun = self._notification("begun", now_ms - round(gone_s * 1000), now_ms)
            made = self._begun
        elif self.resend_s and now_ms - self._told_ms >= self.resend_s * 1000:
            made = self._notification("still", begun.since_ms, now_ms)
        else:
            return []
        self._told_ms = now_ms
        return [made]

    def _notification(self, state: str, since_ms: int, now_ms: int) -> Notification:
        place, lasted_ms = self.signs.place, now_ms - since_ms
        if state == "over":
            message = Message("alerts.database_answers", place=place, lasted_ms=lasted_ms)
        else:
            why = self.signs.why() or Message("alerts.database_unreachable")
            message = Message("alerts.database_gone", place=place, lasted_ms=lasted_ms, why=why)
        return Notification(f"database:{self.signs.host}", state, message, since_ms)
