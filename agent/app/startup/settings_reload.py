"""Applies changes of `prs.toml` while the agent runs, and names those that must wait.

Invariant: a file that cannot be read, or under which no agent may run, changes nothing; it is
reported once, and the crawl continues as before.
A file is read when it is the same at two checks in a row: an editor may still be writing it.
On a terminal SIGHUP means what it always does: the terminal is gone, and the agent ends.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.manager_settings import ManagerSettings
from agent.app.reporting.reports import Reports
from agent.app.runtime import Runtime
from agent.app.session.fetch_conditions import ResourceGuards
from agent.app.site.site import allow_files, windows_of
from agent.app.startup.settings_mapping import blocked_by
from agent.link.poller import Poller
from agent.settings import SETTINGS_FILE, Settings, check_can_run, taken_up
from shared.errors import SettingError
from shared.settings import Renamed

__all__ = ["SettingsReload", "SettingsSource", "SettingsWatch"]

_FileState = tuple[int, int, int] | None


class SettingsWatch:
    """Watches one file by its time, size and inode."""

    def __init__(self, path: Path) -> None:
        """Take the present file as read."""
        self._path = path
        self._read = self._last = self._file_state()
        self._is_requested = False

    def due(self) -> bool:
        """Return whether the file should be read now; the caller then reads it."""
        last, self._last = self._last, self._file_state()
        stable = self._last == last and self._last != self._read
        if not (self._is_requested or stable):
            return False
        self._is_requested, self._read = False, self._last
        return True

    def request(self) -> None:
        """Request a read of the file at the next check, changed or not."""
        self._is_requested = True

    def handle_signal(self) -> None:
        """Take SIGHUP as such a request, for as long as the loop runs."""
        if not _on_terminal():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.request)

    def restore_signal(self) -> None:
        """Restore the default handling of the signal."""
        asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)

    def _file_state(self) -> _FileState:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino)


class SettingsSource:
    """The settings as this process reads them: the file, with the command line's values over it."""

    def __init__(
        self,
        path: Path,
        read: Callable[[], Settings],
        read_renamed: Callable[[], tuple[Renamed, ...]],
    ) -> None:
        """read: the settings again; read_renamed: those given by old names. Raises SettingError."""
        self.watch = SettingsWatch(path)
        self.read = read
        self.renamed = read_renamed()
        self._read_renamed = read_renamed

    def refresh_renamed(self) -> None:
        """Find old names again; a file that cannot be read changes nothing."""
        with suppress(SettingError):
            self.renamed = self._read_renamed()


class SettingsReload:
    """The settings of the site, as they are in force."""

    def __init__(
        self,
        runtime: Runtime,
        site: Settings,
        source: SettingsSource,
        permission: Permission,
        guards: ResourceGuards,
        reports: Reports,
        manager_settings: ManagerSettings,
        poller: Poller,
    ) -> None:
        """site: the settings of the start. Of the rest each applies its part of a change."""
        self._runtime = runtime
        self._site = site
        self._source = source
        self._permission = permission
        self._guards = guards
        self._reports = reports
        self._manager_settings = manager_settings
        self._poller = poller

    async def check(self) -> None:
        """Read the file again where that is due."""
        if not self._source.watch.due():
            return
        log_line = self._runtime.log_line
        try:
            wanted = self._source.read()
            check_can_run(wanted)
            blocked_by(wanted.politeness.blocked_url_patterns)
        except SettingError as error:
            log_line(f"{SETTINGS_FILE} was changed and is not applied: {error}")
            return
        self._source.refresh_renamed()
        change = taken_up(self._site, wanted)
        if change.now:
            self._apply(change.settings)
        effects = [
            f"{', '.join(names)} {'holds' if len(names) == 1 else 'hold'} from {when} on"
            for names, when in ((change.now, "now"), (change.later, "the next start"))
            if names
        ]
        log_line(f"{SETTINGS_FILE} was read again: {'; '.join(effects) or 'no setting differs'}")

    def _apply(self, settings: Settings) -> None:
        before, self._site = windows_of(self._site), settings
        windows = windows_of(settings)
        self._permission.retune(windows)
        self._guards.retune(settings)
        self._reports.retune(settings)
        allow_files(settings, self._runtime.log_line)
        self._manager_settings.change_site(settings)
        if windows != before:
            # The next call may be an hour away, and what is fetched needs a permit.
            self._poller.call_soon(self._runtime.clock.boottime_s())


def _on_terminal() -> bool:
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
