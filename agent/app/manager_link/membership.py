"""Membership in the crawl (M5): leaves when a drain is through, takes part again after it."""

from __future__ import annotations

from dataclasses import replace

from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.permit_use import PermitUse
from agent.app.reporting.reports import Reports
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.control.drain import change_holds
from agent.errors import LinkError
from agent.link.client import ManagerClient
from agent.link.poller import Poller

__all__ = ["Membership"]


class Membership:
    """Participation of this agent, by the holds of site and manager."""

    def __init__(
        self,
        runtime: Runtime,
        client: ManagerClient,
        poller: Poller,
        permission: Permission,
        permits: PermitUse,
        session: CrawlSession,
        reports: Reports,
    ) -> None:
        self._runtime = runtime
        self._client = client
        self._poller = poller
        self._permission = permission
        self._permits = permits
        self._session = session
        self._reports = reports

    @property
    def must_leave(self) -> bool:
        """Return whether the agent is drained, and nothing is under way or unreported."""
        holds = self._permission.holds
        if not holds.drained or holds.handed_back:
            return False
        return self._session.is_quiet and not self._reports.unreported

    @property
    def must_join(self) -> bool:
        """Return whether the agent has left, and nothing holds it."""
        holds = self._permission.holds
        return holds.handed_back and not holds.drained

    async def update(self) -> None:
        """Hand the work back once drained, and take part again when nothing holds."""
        try:
            if self.must_leave:
                await self._client.unsubscribe()
                self._permits.carry_out(self._poller.permit_returned())
                self._remember(handed_back=True)
                self._runtime.log_line("drained: the work was handed back")
            elif self.must_join:
                await self._client.subscribe()
                self._remember(handed_back=False)
                self._runtime.log_line("takes part again")
        except LinkError as error:
            self._runtime.log_line(f"manager: {error}")

    def _remember(self, *, handed_back: bool) -> None:
        self._permission.holds = change_holds(
            self._runtime.home.hold, lambda holds: replace(holds, handed_back=handed_back)
        )
