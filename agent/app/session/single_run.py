"""End of a run with `--once`: all finished, reported and sent, or the hours are over.

A manager assigns work only to agents that have just called, so an empty list at first says
nothing: the run ends when several syncs in a row have brought no news. Segments that the manager
asked for are sent to their end, also beyond the hours of the crawl, within those of collection.
A start on a day without hours, a holiday, does not wait for the next one: cron comes again.
Another installation's manager ends the run as soon as there is no work under a permit: whoever
starts it again asks again. What is here stays.
Source: seed 004, 5.1.5 (started by cron at night, ended after the log was sent).
"""

from __future__ import annotations

import math
from typing import Final

from agent.app.collection.collection import AgentCollection
from agent.app.manager_link.conversation import Conversation
from agent.app.startup.agent_parts import Parts
from agent.errors import LinkError, RefusedError, shown_installation
from shared.messages import Message

__all__ = ["SingleRun"]

ANSWERS_WITHOUT_NEWS: Final = 3
WAIT_MOST_S: Final = 20 * 3600.0  # for the hours to begin; whoever starts it once a day waits too
_NEED_A_PERSON: Final = frozenset({401, 403, 404, 409, 426})


class SingleRun:
    """Asks the agent to stop when there is nothing left to do."""

    def __init__(self, parts: Parts, collecting: AgentCollection) -> None:
        self._parts = parts
        self._collecting = collecting
        self._was_open = False
        self._answers_at_news = 0
        self.refused: Message | None = (
            None  # the manager's no, with its remedy, where that ended the run
        )
        self.unreached: Message | None = (
            None  # whose manager answered instead of this agent's, where that did
        )

    def look(self, talk: Conversation) -> None:
        """Look once, after everything else was looked at."""
        stopping = self._parts.stopping
        if talk.refusal is not None and talk.refusal.status in _NEED_A_PERSON:
            self.refused = talk.poller.trouble
            stopping.ask(Message("agent.stop_refused"))
            return
        if talk.foreign is not None and not self._goes_on_alone():
            self.unreached = _said(talk.foreign)
            stopping.ask(Message("agent.stop_other_manager"))
            return
        why = self._over(talk)
        if why is None:
            self._collecting.go_on()
        elif self._collecting.finish():
            stopping.ask(why)

    def _goes_on_alone(self) -> bool:
        """Return whether a permit and unfinished work remain, which no other manager ends."""
        return self._parts.gate.may_fetch() and not self._parts.worked_off

    def _over(self, talk: Conversation) -> Message | None:
        """Return why nothing is left to fetch and to report; None: something is."""
        is_open = self._parts.permission.window_open
        self._was_open = self._was_open or is_open
        holds = self._parts.permission.holds
        if holds.drained:
            if holds.handed_back and not self._parts.unreported:
                return Message("agent.stop_drained")
        elif not self._all_told(talk):
            self._answers_at_news = talk.answers
        elif not is_open:
            if self._was_open:
                return Message("agent.stop_hours_over")
            if talk.answers and self._opens_in_s() > WAIT_MOST_S:
                return Message("agent.stop_no_hours_today")
        elif not self._parts.worked_off:
            self._answers_at_news = talk.answers
        elif talk.answers - self._answers_at_news >= ANSWERS_WITHOUT_NEWS:
            return self._all_done()
        return None

    def _all_done(self) -> Message:
        session = self._parts.session
        failed = sum(session.reports.failures().values())
        if not failed:
            return Message("agent.stop_all_finished")
        done = len(session.scope.finished) + len(session.scope.resting)
        return Message("agent.stop_some_failed", failed=failed, units=done)

    def _opens_in_s(self) -> float:
        change_ms = self._parts.permission.window_change_ms
        now_ms = self._parts.clock.epoch_ms()
        return math.inf if change_ms is None else (change_ms - now_ms) / 1000

    def _all_told(self, talk: Conversation) -> bool:
        session = self._parts.session
        return (
            session.quiet
            and not self._parts.unreported
            and not session.reports.pending_finished(1)
            and talk.poller.acknowledged == talk.poller.in_force
        )


def _said(error: LinkError) -> Message:
    """Return which manager answered, and the consequence for the data here."""
    if not isinstance(error, RefusedError):
        return Message("agent_errors.other_installation")
    shown = shown_installation(error.installation)
    return Message("agent_errors.unknown_to_other_manager", status=error.status, shown=shown)
