"""Conditions of fetching: resources of the site, room in the outbox, holds of site and manager.

Each second they are measured and written into `Permission`, which the crawl asks.
"""

from __future__ import annotations

from agent.app.manager_link.fetch_permission import Permission
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.site.site import windows_of
from agent.control.disk import DiskGuard
from agent.control.drain import read_holds
from agent.control.load import LoadGuard
from agent.control.month import MonthlyBytes
from agent.link.outbox import Outbox
from agent.link.poller import Poller
from agent.settings import Home, Settings
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["FetchConditions", "ResourceGuards"]


@frozen
class ResourceGuards:
    """Guards of the site's resources: room on the disk, bytes of the month, load of the machine."""

    disk: DiskGuard
    month: MonthlyBytes
    load: LoadGuard

    @classmethod
    def of(cls, settings: Settings) -> ResourceGuards:
        """Return the guards that the settings ask for."""
        home, zone = Home(settings.home), windows_of(settings).zone
        return cls(
            DiskGuard(home.path, settings.disk.reserve_bytes),
            MonthlyBytes(home.month, settings.network.month_bytes, zone),
            LoadGuard(settings.pages.max_load_per_core, home.load),
        )

    def retune(self, settings: Settings) -> None:
        """Apply other limits."""
        self.disk.retune(settings.disk.reserve_bytes)
        self.month.retune(settings.network.month_bytes, windows_of(settings).zone)
        self.load.retune(settings.pages.max_load_per_core)


class FetchConditions:
    """Keeps the permission up to date, and logs each change of the reason against fetching."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        permission: Permission,
        guards: ResourceGuards,
        outbox: Outbox,
        poller: Poller,
    ) -> None:
        """poller: reports how calm the machine is."""
        self._runtime = runtime
        self._session = session
        self._permission = permission
        self._guards = guards
        self._outbox = outbox
        self._poller = poller
        self._reason: Message | None = None

    async def check(self) -> None:
        """Measure all conditions."""
        permission, guards = self._permission, self._guards
        last = self._runtime.stopping.is_requested
        permission.disk = guards.disk.check()
        permission.load = guards.load.check(counts=permission.window_open, last=last)
        self._poller.report_calm(guards.load.calm)
        permission.month = guards.month.check(
            self._runtime.clock.epoch_ms(),
            self._session.reports.counters().response_bytes,
            last=last,
        )
        permission.outbox = self._outbox.full
        permission.crawl = self._session.loop.paused
        permission.holds = read_holds(self._runtime.home.hold)
        reason = permission.reason
        if reason != self._reason:
            self._reason = reason
            self._runtime.log_line(f"not fetching: {reason}" if reason else "fetching")
