"""Work that an answered sync makes possible: the launcher, delayed reports, the proof of a sync."""

from __future__ import annotations

import contextlib

from agent.app.manager_link.fetch_permission import Permission
from agent.app.reporting.report_loop import ReportLoop
from agent.app.runtime import Runtime
from agent.app.startup.settings_mapping import version
from agent.control.launcher_program import LauncherProgram
from agent.control.synced_version import note_synced
from agent.settings import Home
from shared.archive.errors import DiskFullError

__all__ = ["SyncFollowUp"]


class SyncFollowUp:
    """Runs after each answered sync."""

    def __init__(
        self, runtime: Runtime, home: Home, permission: Permission, report_loop: ReportLoop
    ) -> None:
        self._runtime = runtime
        self._home = home
        self._permission = permission
        self._report_loop = report_loop
        self._launcher = LauncherProgram(home.path)
        self._is_first = True

    def run(self) -> None:
        """Start the launcher where it is due, note the first sync, and send what waited."""
        self._launcher.start_if_due(is_open=self._permission.window_open)
        if self._is_first:
            self._is_first = False
            with contextlib.suppress(DiskFullError):
                note_synced(self._home.synced, version(), self._runtime.clock.epoch_ms())
        self._report_loop.retry_now()
