"""Supervision of a running agent: quiet jobs four times a second, all checks each second."""

from __future__ import annotations

from typing import Final, Protocol

from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.link.poller import Poller

__all__ = ["PeriodicCheck", "Supervisor"]

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
