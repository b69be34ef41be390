"""Guards of the site's resources: room on the disk, bytes of the month, load of the machine."""

from __future__ import annotations

from agent.app.site.site import windows_of
from agent.control.disk import DiskGuard
from agent.control.load import LoadGuard
from agent.control.month import MonthlyBytes
from agent.settings import Home, Settings
from shared.frozen import frozen

__all__ = ["ResourceGuards"]


@frozen
class ResourceGuards:
    """The guards of one home."""

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
