"""Parts of a running agent, for modules that need all of it. Made once, by `composition`."""

from __future__ import annotations

from collections.abc import Callable

from agent.app.manager_link.fetch_permission import Permission
from agent.app.reporting.report_schedule import Reporting, ReportSchedule
from agent.app.session.session import CrawlSession
from agent.control.disk import DiskGuard
from agent.control.load import LoadGuard
from agent.control.month import MonthlyBytes
from agent.control.renamed_settings import RenamedSettings
from agent.control.stop import StopRequest
from agent.link.outbox import Outbox
from agent.link.report_delivery import Sender
from agent.pipeline.permit import PermitGate
from agent.pipeline.ports.clock import Clock
from agent.settings import Home
from shared.frozen import frozen

__all__ = ["Parts", "Say"]

Say = Callable[[str], None]
"""Tells the person at the terminal, or the log of the service, one sentence."""


@frozen
class Parts:
    """The agent's parts. `spread_s`: so much before its hours begin it calls the manager."""

    home: Home
    name: str
    manager: str
    clock: Clock
    stopping: StopRequest
    gate: PermitGate
    permission: Permission
    disk: DiskGuard
    month: MonthlyBytes
    load: LoadGuard
    outbox: Outbox
    sender: Sender
    session: CrawlSession
    reporting: Reporting
    schedule: ReportSchedule
    spread_s: float
    say: Say
    renamed: RenamedSettings

    @property
    def worked_off(self) -> bool:
        """Return whether all units that are held are finished or rest, and nothing is under way."""
        if self.session.taking:
            return False
        scope = self.session.scope
        return len(scope.finished) + len(scope.resting) == len(scope.jobs) and self.session.quiet

    @property
    def unreported(self) -> int:
        """Return the number of waiting reports: in the outbox, and the open log if it has lines."""
        return len(self.outbox.waiting()) + bool(self.reporting.open_log_bytes)
