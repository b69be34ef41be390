"""End of a run with `--once`: all finished, reported and sent, or the hours are over.

A manager assigns work only to agents that have just called, so an empty list at first says
nothing: the run ends when several syncs in a row have brought no news. Segments that the manager
asked for are sent to their end, also beyond the hours of the crawl, within those of collection.
A start on a day without hours, a holiday, does not wait for the next one: cron comes again.
Another installation's manager ends the run as soon as there is no work under a permit: the
next start asks again. What is here stays.
Source: seed 004, 5.1.5 (started by cron at night, ended after the log was sent).
"""

from __future__ import annotations

import math
from typing import Final

from agent.app.collection.collection import AgentCollection
from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.sync_exchange import SyncExchange
from agent.app.reporting.reports import Reports
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.errors import LinkError, RefusedError, shown_installation
from shared.messages import Message

__all__ = ["SingleRun"]

ANSWERS_WITHOUT_NEWS: Final = 3
WAIT_MOST_S: Final = 20 * 3600.0  # for the hours to begin; whoever starts it once a day waits too
_NEED_A_PERSON: Final = frozenset({401, 403, 404, 409, 426})


class SingleRun:
    """Asks the agent to stop when there is nothing left to do."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        permission: Permission,
        reports: Reports,
        exchange: SyncExchange,
        collection: AgentCollection,
    ) -> None:
        self._runtime = runtime
        self._session = session
        self._permission = permission
        self._reports = reports
        self._exchange = exchange
        self._collection = collection
        self._was_open = False
        self._answers_at_news = 0
        self.refused: Message | None = None
        """The manager's refusal, with its remedy, where that ended the run."""
        self.unreached: Message | None = None
        """The manager that answered instead of this agent's, where that ended the run."""

    async def check(self) -> None:
        """Check once, after all other checks."""
        exchange, stopping = self._exchange, self._runtime.stopping
        if exchange.refusal is not None and exchange.refusal.status in _NEED_A_PERSON:
            self.refused = exchange.poller.trouble
            stopping.request(Message("agent.stop_refused"))
            return
        if exchange.foreign is not None and not self._can_work_alone():
            self.unreached = _other_manager(exchange.foreign)
            stopping.request(Message("agent.stop_other_manager"))
            return
        reason = self._end_reason()
        if reason is None:
            self._collection.cancel_finish()
        elif self._collection.finish():
            stopping.request(reason)

    def _can_work_alone(self) -> bool:
        """Return whether a permit and unfinished work remain, which no other manager ends."""
        return self._permission.gate.may_fetch() and not self._session.is_worked_off

    def _end_reason(self) -> Message | None:
        """Return why nothing is left to fetch and to report; None: something is."""
        permission, answers = self._permission, self._exchange.answers
        is_open = permission.window_open
        self._was_open = self._was_open or is_open
        if permission.holds.drained:
            if permission.holds.handed_back and not self._reports.unreported:
                return Message("agent.stop_drained")
        elif not self._is_all_reported():
            self._answers_at_news = answers
        elif not is_open:
            if self._was_open:
                return Message("agent.stop_hours_over")
            if answers and self._opens_in_s() > WAIT_MOST_S:
                return Message("agent.stop_no_hours_today")
        elif not self._session.is_worked_off:
            self._answers_at_news = answers
        elif answers - self._answers_at_news >= ANSWERS_WITHOUT_NEWS:
            return self._all_done()
        return None

    def _all_done(self) -> Message:
        session = self._session
        failed = sum(session.reports.failures().values())
        if not failed:
            return Message("agent.stop_all_finished")
        done = len(session.scope.finished) + len(session.scope.resting)
        return Message("agent.stop_some_failed", failed=failed, units=done)

    def _opens_in_s(self) -> float:
        change_ms = self._permission.window_change_ms
        now_ms = self._runtime.clock.epoch_ms()
        return math.inf if change_ms is None else (change_ms - now_ms) / 1000

    def _is_all_reported(self) -> bool:
        poller = self._exchange.poller
        return (
            self._session.is_quiet
            and not self._reports.unreported
            and not self._session.reports.pending_finished(1)
            and poller.acknowledged == poller.in_force
        )


def _other_manager(error: LinkError) -> Message:
    """Return which manager answered, and the consequence for the data here."""
    if not isinstance(error, RefusedError):
        return Message("agent_errors.other_installation")
    shown = shown_installation(error.installation)
    return Message("agent_errors.unknown_to_other_manager", status=error.status, shown=shown)
