"""Permission to send a request now, or the reason against it.

Two questions: `may_send` at each request (permit, hours, a hold of site or manager); `may_start`
before one is begun at all (also room on the disk and in the outbox, the month's bytes, the
machine's load).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from agent.control.drain import Holds
from agent.pipeline.permit import PermitGate
from agent.pipeline.ports import Clock
from shared.messages import Message
from shared.windows import Windows

__all__ = ["HOURLY_S", "Permission"]

HOURLY_S: Final = 3600.0  # M4's rhythm in the source: so often a sleeping agent calls too


class Permission:
    """All reasons against fetching; each component writes its own here."""

    def __init__(self, gate: PermitGate, windows: Windows, clock: Clock) -> None:
        self.holds = Holds()
        self.disk: Message | None = None
        self.outbox: Message | None = None
        self.month: Message | None = None
        self.load: Message | None = None
        self.crawl: Message | None = None  # what disk and modules say
        self.no_permit = Message("agent.no_sync_yet")
        self.gate = gate
        self._windows = windows
        self._clock = clock
        self._open = False
        self._asked_ms = 0
        self._change_ms: int | None = 0

    def retune(self, windows: Windows) -> None:
        """Take other hours."""
        self._windows = windows
        self._asked_ms, self._change_ms = 0, 0

    def may_send(self) -> bool:
        """Return whether a request may be sent now."""
        if not self.gate.may_fetch() or self.holds.paused:
            return False
        now_ms, change_ms = self._clock.epoch_ms(), self._change_ms
        if now_ms < self._asked_ms or (change_ms is not None and now_ms >= change_ms):
            self._update_hours()
        return self._open

    def may_start(self) -> bool:
        """Return whether a request should be begun now."""
        return self.may_send() and not self.short_of

    @property
    def short_of(self) -> Message | None:
        """Return what is exhausted: room, bytes of this month, quiet; None: nothing."""
        return self.disk or self.outbox or self.month or self.load

    @property
    def window_open(self) -> bool:
        """Return whether the site's hours allow requests now."""
        self._update_hours()
        return self._open

    @property
    def window_change_ms(self) -> int | None:
        """Return when the hours begin or end next, epoch milliseconds; None: never."""
        self._update_hours()
        return self._change_ms

    @property
    def reason(self) -> Message | None:
        """Return why no request may begin now; None: it may."""
        if self.holds.paused:
            return self.holds.reason
        if not self.window_open:
            return self._closed()
        for reason in (self.disk, self.crawl, self.outbox, self.month, self.load):
            if reason is not None:
                return reason
        if self.gate.may_fetch():
            return None
        return Message("agent.no_permit", why=self.no_permit)

    def rest_outside_hours(self, spread_s: float, unreported: int) -> tuple[int | None, float]:
        """Return (by when this agent surely calls again, how long it rests); (None, 0): awake.

        spread_s: so much before its hours begin it calls, as every site draws its own.
        unreported: reports that wait; with any it does not sleep yet. The promise is kept on the
        agent's own clock, also over a change of daylight saving: the end of the night is an
        instant and not an hour of the day.
        Source: seed 004, 5.1.5 (M4 is asked for every hour, also in the day).
        """
        if self.window_open or self._change_ms is None or unreported:
            return None, 0.0
        wake_ms = self._change_ms - round(spread_s * 1000)
        rest_s = (wake_ms - self._clock.epoch_ms()) / 1000
        return (wake_ms, min(rest_s, HOURLY_S)) if rest_s > 0 else (None, 0.0)

    def _update_hours(self) -> None:
        """Evaluate the hours again when they changed, or the clock was set back."""
        now_ms = self._clock.epoch_ms()
        if self._asked_ms <= now_ms and (self._change_ms is None or now_ms < self._change_ms):
            return
        now = datetime.fromtimestamp(now_ms / 1000, UTC)
        change = self._windows.next_change(now)
        self._open = self._windows.is_open(now)
        self._asked_ms = now_ms
        self._change_ms = None if change is None else round(change.timestamp() * 1000)

    def _closed(self) -> Message:
        if self._change_ms is None:
            return Message("agent.no_hours")
        change = datetime.fromtimestamp(self._change_ms / 1000, self._windows.zone)
        day = Message(f"agent.weekday_{change.isoweekday()}")
        return Message("agent.outside_hours", day=day, time=f"{change:%H:%M}")
