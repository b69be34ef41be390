"""Due reports: closes the crawl log and hands found hosts over, when the schedule says so."""

from __future__ import annotations

from agent.app.manager_link.fetch_permission import Permission
from agent.app.reporting.report_loop import ReportLoop
from agent.app.reporting.report_schedule import Moment, Reporting, ReportSchedule
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.site.site import windows_of
from agent.settings import Settings
from shared.archive.errors import DiskFullError
from shared.messages import Message

__all__ = ["DueReports"]


class DueReports:
    """Asks the schedule each second, and does what is due."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        permission: Permission,
        reporting: Reporting,
        schedule: ReportSchedule,
        report_loop: ReportLoop,
    ) -> None:
        self._clock = runtime.clock
        self._session = session
        self._permission = permission
        self._reporting = reporting
        self._schedule = schedule
        self._report_loop = report_loop
        self._probes_reported = 0

    def retune(self, settings: Settings) -> None:
        """Apply other times and bounds."""
        disk, outbox = settings.disk, self._reporting.outbox
        outbox.retune(limit_bytes=disk.outbox_bytes, keep_logs_s=disk.log_retention_s)
        self._schedule.retune(settings.reports, windows_of(settings).zone)

    async def check(self) -> None:
        """Put what is due into the outbox."""
        session, reporting, schedule = self._session, self._reporting, self._schedule
        probes = session.crawl.probes_finished
        moment = self._moment(probes)
        reason = schedule.log_due(moment)
        if self._permission.holds.drained and session.is_quiet and moment.log_bytes:
            reason = "drained"
        try:
            if reason:
                await reporting.close_log(reason)
                schedule.log_closed(moment)
                self._probes_reported = probes
                self._report_loop.wake()
            if schedule.hosts_due(moment):
                if await reporting.hand_over_hosts():
                    self._report_loop.wake()
                schedule.hosts_sent(moment)
        except DiskFullError as error:
            self._permission.disk = Message("agent.disk_full", why=error.message)

    def _moment(self, probes: int) -> Moment:
        session = self._session
        return Moment(
            epoch_ms=self._clock.epoch_ms(),
            now_s=self._clock.monotonic_s(),
            window_open=self._permission.window_open,
            worked_off=session.is_worked_off,
            shares_hosts=session.shares_hosts,
            piece_rests=bool(session.scope.resting),
            pages_on_way=session.shares_hosts and self._reporting.has_hosts_waiting,
            probes_waiting=probes > self._probes_reported,
            log_bytes=self._reporting.open_log_bytes,
        )
