"""Limits on open files and connections of an agent."""

from __future__ import annotations

import contextlib
import resource
from typing import Final

from agent.control.robot_log import LineLogger
from agent.settings import Settings

__all__ = ["allow_files", "files_needed"]

OTHER_FILES: Final = 64  # database, segment, log, name servers, the manager, Python itself


def files_needed(settings: Settings) -> int:
    """Return how many files and connections an agent has open at most."""
    return 3 * settings.network.parallel_hosts + OTHER_FILES


def allow_files(settings: Settings, log_line: LineLogger) -> None:
    """Raise this process's limit as far as that goes, and log where it does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files_needed(settings)
    if soft >= wanted:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    if hard < wanted:
        log_line(
            f"{hard} open files are allowed, and {settings.network.parallel_hosts} hosts at a time "
            f"may need {wanted}: raise the limit (ulimit -n), or lower network.parallel_hosts"
        )
