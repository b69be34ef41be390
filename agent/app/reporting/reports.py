"""Reports of the running agent: put into the outbox when they are due, delivered from there.

Invariant: what is put into the outbox is on the disk before the ledger forgets it, and is named by
what it was made of; so a crash between the two makes no second report, and where the first was sent
meanwhile, as when the disk was full, the second is the same byte for byte, which counts once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Final

from agent.adapters.reports import OutsideBatch
from agent.app.manager_link.fetch_permission import Permission
from agent.app.reporting.report_schedule import Moment, ReportSchedule
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.site.site import windows_of
from agent.link.link_memory import Memory
from agent.link.manager_time import ManagerTime
from agent.link.outbox import Outbox
from agent.link.report_delivery import Sender
from agent.settings import Settings
from shared.archive.errors import DiskFullError
from shared.messages import Message
from shared.wire.server_list import UrlLine, encode

__all__ = ["Reports"]

HOSTS_A_REPORT: Final = 10_000
LONGEST_REST_S: Final = 5.0  # the outbox is looked through so often


class Reports:
    """Does what the schedule says, and delivers reports until the agent stops."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        permission: Permission,
        outbox: Outbox,
        memory: Memory,
        manager_time: ManagerTime,
        schedule: ReportSchedule,
        sender: Sender,
    ) -> None:
        """manager_time: by which logs get their times and names."""
        self.outbox = outbox
        self._runtime = runtime
        self._session = session
        self._permission = permission
        self._memory = memory
        self._manager_time = manager_time
        self._schedule = schedule
        self._sender = sender
        self._probes_reported = 0
        self._wake = asyncio.Event()  # something was put into the outbox, or may be sent now

    @property
    def unreported(self) -> int:
        """Return the number of waiting reports: in the outbox, the open log if it has lines, and
        the next M2 if anything was found for it: a round must not end without those pages.
        """
        session = self._session
        has_found = session.reports.oldest_outside() is not None
        return len(self.outbox.waiting()) + bool(session.ledger.open_log_bytes) + has_found

    async def close_log(self, reason: str) -> None:
        """Close the open log and put it, and any that a crash left, into the outbox."""
        self._session.ledger.close_log(self._manager_time.now_ms())
        await self.hand_over_logs(reason)

    async def hand_over_logs(self, reason: str) -> None:
        """Put closed logs into the outbox."""
        ledger = self._session.ledger
        for log in ledger.closed_logs():
            # Of another ledger, a log of the same number began at another time.
            made_of = f"{log.key} {log.since_ms}"
            minute = self._memory.log_minute(self._manager_time.now_ms(), made_of)
            # Compressing takes seconds where a log is long; the crawl continues meanwhile.
            key = f"{log.key}-{ledger.mark}"
            report = await asyncio.to_thread(self.outbox.put_log, key, minute, log.body())
            ledger.forget_log(log)
            ledger.commit()
            self._runtime.log_line(
                f"log of {report.size_bytes} bytes is ready to be sent: {reason}"
            )

    async def hand_over_hosts(self) -> int:
        """Put hosts that were found into the outbox; return how many."""
        count = 0
        session = self._session
        while batch := session.reports.take_outside(HOSTS_A_REPORT):
            # Those of another ledger, which was moved away, may have the same numbers.
            key = f"{batch.key}-{session.ledger.mark}"
            await asyncio.to_thread(self.outbox.put_hosts, key, _lines(batch))
            session.reports.forget_outside(batch)
            session.ledger.commit()
            count += len(batch.urls)
        if count:
            self._runtime.log_line(f"{count} URLs of other hosts are ready to be sent")
        return count

    def retune(self, settings: Settings) -> None:
        """Apply other times and bounds."""
        disk = settings.disk
        self.outbox.retune(limit_bytes=disk.outbox_bytes, keep_logs_s=disk.log_retention_s)
        self._schedule.retune(settings.reports, windows_of(settings).zone)

    async def check(self) -> None:
        """Put what is due into the outbox."""
        session, schedule = self._session, self._schedule
        probes = session.crawl.probes_finished
        moment = Moment(
            epoch_ms=self._runtime.clock.epoch_ms(),
            now_s=self._runtime.clock.monotonic_s(),
            window_open=self._permission.window_open,
            worked_off=session.is_worked_off,
            shares_hosts=session.crawl.shares_hosts,
            piece_rests=bool(session.scope.resting),
            pages_on_way=session.crawl.shares_hosts
            and any(report.kind == "hosts" for report in self.outbox.waiting()),
            probes_waiting=probes > self._probes_reported,
            log_bytes=session.ledger.open_log_bytes,
        )
        reason = schedule.log_due(moment)
        is_leaving = self._permission.holds.drained and session.is_quiet
        if is_leaving and moment.log_bytes:
            reason = "drained"
        try:
            if reason:
                await self.close_log(reason)
                schedule.log_closed(moment)
                self._probes_reported = probes
                self._wake.set()
            if is_leaving or schedule.hosts_due(moment):
                if await self.hand_over_hosts():
                    self._wake.set()
                schedule.hosts_sent(moment)
        except DiskFullError as error:
            self._permission.disk = Message("agent.disk_full", why=error.message)

    def retry_now(self) -> None:
        """Work the outbox off now, also what waited: the manager has answered."""
        self._sender.retry_now()
        self._wake.set()

    async def run(self) -> None:
        """Deliver reports whenever there are new ones, or the time of one has come."""
        while not self._runtime.stopping.is_requested:
            self._wake.clear()
            try:
                await self._sender.send_due()
            except DiskFullError as error:  # the reason of a refused report, or a folder that grows
                self._runtime.log_line(f"reports: {error}")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_REST_S):
                    await self._wake.wait()


def _lines(batch: OutsideBatch) -> Iterator[bytes]:
    return encode(UrlLine(one.url, one.referer) for one in batch.urls)
