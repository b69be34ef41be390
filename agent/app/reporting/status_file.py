"""The file `status.json` of a home, for `prs status`, and the status line of a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from agent.app.reporting.agent_view import AgentView
from agent.app.session.watchdog import Watchdog
from agent.control.status import Status, write_status

__all__ = ["StatusFile"]


class StatusFile:
    """Writes and shows the status each second."""

    def __init__(
        self,
        path: Path,
        agent_view: AgentView,
        watchdog: Watchdog,
        show_status: Callable[[Status], None],
    ) -> None:
        self._path = path
        self._agent_view = agent_view
        self._watchdog = watchdog
        self._show_status = show_status

    async def check(self) -> None:
        """Write and show the present status."""
        status = self._agent_view.status(stuck=self._watchdog.check())
        with contextlib.suppress(OSError):  # it is only for people, and of this second
            write_status(self._path, status)
        self._show_status(status)
