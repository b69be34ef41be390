"""Progress deadlines of the agent's components (`agent.control.progress_watch`).

The limits are what no slow disk, network or manager takes: a process that is ended by mistake costs
a night's connections, and one that is stuck waits for hours without harm, as it fetches nothing.
"""

from __future__ import annotations

from typing import Final

from agent.app.manager_link.conversation import Conversation
from agent.app.manager_link.fetch_permission import Permission
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.control.progress_watch import ProgressWatch
from agent.link.poller import Poller
from shared.messages import Message

__all__ = ["Watchdog"]

TURN_S: Final = 300.0  # the crawl's loop turns twice a second at least, while others run at all
PAGE_S: Final = 600.0  # for pages that wait for workers, behind the last answer
CALL_S: Final = 4 * 3600.0  # a list of ten million units on a thin line


class Watchdog:
    """Measures the progress of the components each second."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        permission: Permission,
        conversation: Conversation,
        poller: Poller,
    ) -> None:
        self._runtime = runtime
        self._session = session
        self._permission = permission
        self._conversation = conversation
        self._poller = poller
        self._progress = ProgressWatch()
        self._logged: Message | None = None

    def check(self) -> Message | None:
        """Return the component that makes no progress; None: all do."""
        clock, session, progress = self._runtime.clock, self._session, self._progress
        progress.begin_round(clock.monotonic_s())
        progress.note("crawl", done=session.turns, busy=True, limit_s=TURN_S)
        counted = session.reports.counters()
        progress.note(
            "requests",
            # At a low rate of the site's own a page may take longer than any deadline.
            done=counted.requests + counted.pages + session.passed_bytes,
            busy=session.crawl.at_work > 0 and not (session.paused or self._permission.disk),
            limit_s=2 * session.settings.limits.total_s + PAGE_S,
        )
        progress.note(
            "calls",
            done=self._conversation.calls,
            busy=clock.boottime_s() >= self._poller.next_s,
            limit_s=CALL_S,
        )
        stuck = progress.stuck
        if stuck is not None and stuck != self._logged:
            self._runtime.log_line(f"this process is stuck and stops its heartbeat: {stuck}")
        self._logged = stuck
        return stuck
