"""Supervision of a running agent: quiet jobs four times a second, all checks each second.

The last of the checks writes `status.json`, for `prs status`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final, Protocol

from agent.app.reporting.agent_view import AgentView
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.session.watchdog import Watchdog
from agent.control.status import Status, write_status
from agent.link.poller import Poller

__all__ = ["PeriodicCheck", "StatusFile", "Supervisor"]

PAUSE_S: Final = 0.25
SECOND_S: Final = 1.0


class PeriodicCheck(Protocol):
    """One matter that is looked after each second."""

    async def check(self) -> None:
        """Do what is due now."""


class Supervisor:
    """The loop that checks. Nothing here asks the manager."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        poller: Poller,
        checks: tuple[PeriodicCheck, ...],
    ) -> None:
        """checks: in the order in which they run; each sees what those before it wrote."""
        self._runtime = runtime
        self._session = session
        self._poller = poller
        self._checks = checks
        self._second_s = 0.0

    async def run(self) -> None:
        """Check until the agent stops."""
        stopping = self._runtime.stopping
        while not stopping.is_requested:
            await self.check()
            await stopping.pause(PAUSE_S)

    async def check(self) -> None:
        """Check once; at the end everything, or the last second would be forgotten."""
        clock, session = self._runtime.clock, self._session
        # While a list is put in force the poller does not know yet which jobs end with it.
        for job in () if session.list.is_changing else session.reports.closed_jobs():
            self._poller.unit_closed(job, clock.boottime_s())
        now_s = clock.monotonic_s()
        if now_s - self._second_s < SECOND_S and not self._runtime.stopping.is_requested:
            return
        self._second_s = now_s
        for one in self._checks:
            await one.check()


class StatusFile:
    """Writes and shows the status each second."""

    def __init__(
        self,
        runtime: Runtime,
        agent_view: AgentView,
        watchdog: Watchdog,
        show_status: Callable[[Status], None],
    ) -> None:
        self._path = runtime.home.status
        self._agent_view = agent_view
        self._watchdog = watchdog
        self._show_status = show_status

    async def check(self) -> None:
        """Write and show the present status."""
        status = self._agent_view.status(stuck=self._watchdog.check())
        with contextlib.suppress(OSError):  # it is only for people, and of this second
            write_status(self._path, status)
        self._show_status(status)
