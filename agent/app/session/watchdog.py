"""Progress deadlines of the agent's components (`agent.control.progress_watch`).

The limits are what no slow disk, network or manager takes: a process that is ended by mistake costs
a night's connections, and one that is stuck waits for hours without harm, as it fetches nothing.
"""

from __future__ import annotations

from typing import Final

from agent.app.manager_link.conversation import Conversation
from agent.app.startup.agent_parts import Parts
from agent.control.progress_watch import Progress
from shared.messages import Message

__all__ = ["GettingOn"]

TURN_S: Final = 300.0  # the crawl's loop turns twice a second at least, while others run at all
PAGE_S: Final = 600.0  # for pages that wait for workers, behind the last answer
CALL_S: Final = 4 * 3600.0  # a list of ten million units on a thin line


class GettingOn:
    """Looks at the parts, each second."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._progress = Progress()
        self._said: Message | None = None

    def look(self, talk: Conversation) -> Message | None:
        """Return the part that makes no progress, once; None: all make progress."""
        parts, session, progress = self._parts, self._parts.session, self._progress
        progress.begin(parts.clock.monotonic_s())
        progress.look("crawl", done=session.turns, busy=True, limit_s=TURN_S)
        counted = session.reports.counters()
        progress.look(
            "requests",
            # At a low rate of the site's own a page may take longer than any deadline.
            done=counted.requests + counted.pages + session.passed_bytes,
            busy=session.crawl.at_work > 0 and not (session.paused or parts.permission.disk),
            limit_s=2 * session.settings.limits.total_s + PAGE_S,
        )
        progress.look(
            "calls",
            done=talk.calls,
            busy=parts.clock.boottime_s() >= talk.poller.next_s,
            limit_s=CALL_S,
        )
        stuck = progress.stuck
        if stuck is not None and stuck != self._said:
            parts.say(f"this process is stuck and stops its heartbeat: {stuck}")
        self._said = stuck
        return stuck
