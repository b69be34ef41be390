"""Delivery of reports: in order, with retries, and no bad one blocks the others.

A failure is of one of four kinds. The way is blocked (no answer, 401, 404, 426, 503): no report
is tried for a while. The manager has enough of one kind (429, as of new hosts for today):
that kind rests. It fails at one report (other 5xx), or something between refuses it (4xx without
the manager's mark): that one rests. It refuses one report (other 4xx): it is set aside with the
reason. A 403 may be about the agent or the line: it blocks the way until a sync was answered, and
only one that comes again then is about the report.
Invariant: a report that only a person can bring back is set aside only by the manager's word on it.
Repeats are harmless: the manager answers the same bytes as done.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Final

from agent.errors import FaultError, LinkError, RefusedError, WaitError
from agent.link.call_schedule import LONGEST_WAIT_S, Backoff
from agent.link.outbox import Outbox, Report, ReportKind
from agent.pipeline.ports import Clock
from shared.messages import Message

__all__ = ["Send", "Sender"]

Send = Callable[[Report], Awaitable[None]]
"""Sends one report; returns when the manager has it, else raises LinkError."""

_BLOCKED: Final = frozenset({401, 404, 426})  # not about the report: the next would fare the same
_FORBIDDEN: Final = 403


class Sender:
    """Works the outbox off."""

    def __init__(
        self, outbox: Outbox, send: Send, *, clock: Clock, backoff: Backoff, rng: random.Random
    ) -> None:
        self._outbox = outbox
        self._send = send
        self._clock = clock
        self._backoff = backoff
        self._rng = rng
        self._blocked_failures = 0
        self._blocked_until_s = 0.0
        self._asked_until_s = 0.0  # by the manager itself
        self._resting: dict[str, tuple[int, float]] = {}  # by file name: failures, until when
        self._kind_until_s: dict[ReportKind, float] = {}
        self._answered = 0  # syncs
        self._forbidden: dict[str, int] = {}  # by file name: syncs before its first 403
        self.trouble: Message | None = None  # why reports wait; None: nothing hinders them

    @property
    def next_s(self) -> float:
        """Return when to try again (CLOCK_BOOTTIME); 0: at once."""
        if self._blocked_until_s > self._clock.boottime_s():
            return self._blocked_until_s
        rests_s = [until_s for _, until_s in self._resting.values()]
        return min([*rests_s, *self._kind_until_s.values()], default=0.0)

    async def send_due(self) -> int:
        """Send the waiting reports, oldest first; return how many were taken."""
        taken = 0
        if self._clock.boottime_s() < self._blocked_until_s:
            return 0
        waiting = self._outbox.waiting()
        names = {report.path.name for report in waiting}
        self._resting = {name: rest for name, rest in self._resting.items() if name in names}
        self._forbidden = {name: at for name, at in self._forbidden.items() if name in names}
        now_s = self._clock.boottime_s()
        self._kind_until_s = {
            kind: until_s for kind, until_s in self._kind_until_s.items() if until_s > now_s
        }
        for report in waiting:
            _, until_s = self._resting.get(report.path.name, (0, 0.0))
            if self._clock.boottime_s() < until_s or report.kind in self._kind_until_s:
                continue
            try:
                await self._send(report)
            except LinkError as error:
                if not self._go_on(report, error):
                    return taken
                continue
            self._outbox.acknowledged(report, self._clock.epoch_ms())
            self._resting.pop(report.path.name, None)
            self._blocked_failures = 0
            taken += 1
        if not self._resting and not self._kind_until_s:
            self.trouble = None
        return taken

    def retry_now(self) -> None:
        """Try again at the next call: a sync was answered. Time that was asked for still counts."""
        self._answered += 1
        self._blocked_until_s = self._asked_until_s

    def _is_refused(self, name: str, error: LinkError) -> bool:
        """Return whether the manager will never take this report."""
        if not isinstance(error, RefusedError) or not error.by_manager or error.status in _BLOCKED:
            return False
        if error.status != _FORBIDDEN:
            return True
        return self._forbidden.setdefault(name, self._answered) < self._answered

    def _go_on(self, report: Report, error: LinkError) -> bool:
        """Take note of a failure; tell whether the next report may be tried."""
        now_s = self._clock.boottime_s()
        name = report.path.name
        if self._is_refused(name, error):
            self._outbox.refuse(report, error.message)
            self._resting.pop(name, None)
            return True
        if isinstance(error, FaultError) or _is_foreign(error):
            failures = self._resting.get(name, (0, 0.0))[0] + 1
            self._resting[name] = (failures, now_s + self._backoff.pause_s(failures, self._rng))
            self.trouble = Message("agent.report_waits", name=name, why=error.message)
            return True
        if isinstance(error, WaitError) and error.status == 429:
            pause_s = max(self._backoff.pause_s(1, self._rng), error.retry_after_s or 0.0)
            self._kind_until_s[report.kind] = now_s + min(pause_s, LONGEST_WAIT_S)
            self.trouble = Message("agent.report_waits", name=name, why=error.message)
            return True
        self._blocked_failures += 1
        pause_s = self._backoff.pause_s(self._blocked_failures, self._rng)
        if isinstance(error, WaitError) and error.retry_after_s is not None:
            pause_s = max(min(error.retry_after_s, LONGEST_WAIT_S), pause_s)
            self._asked_until_s = now_s + pause_s
        self._blocked_until_s = now_s + pause_s
        self.trouble = error.with_remedy
        return False


def _is_foreign(error: LinkError) -> bool:
    """Return whether something between the manager and us refuses a report."""
    return isinstance(error, RefusedError) and not error.by_manager and error.status not in _BLOCKED
