"""Recovery of a ledger that is older than its files, as after a restore from a backup.

New numbers are above all that were given. Logs that are here were not handed on yet: they are
closed, and the open one is continued from its last commit.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent.adapters.ledger.closed_logs import ClosedLogs
from agent.adapters.ledger.commit_mark import CommitMark, Committed
from agent.adapters.ledger.crawl_log import LogState, log_path, logs_since
from agent.adapters.ledger.database import Database
from agent.adapters.ledger.ledger_state import LedgerState

__all__ = ["catch_up"]


def catch_up(database: Database, logs: Path, state: LedgerState, mark: CommitMark) -> bool:
    """Return whether a ledger is older than its files; take over all later commits into `state`."""
    later = mark.last
    mine = Committed(state.next_job, state.segments, state.log)
    if later is None or not mine.is_behind(later):
        return False
    mark.times_behind += 1
    state.next_job = max(state.next_job, later.next_job)
    serial = max(state.segments.next_serial, later.segments.next_serial)
    state.segments = replace(state.segments, next_serial=serial)
    state.log = _close_logs(database, logs, state.log, later.log)
    return True


def _close_logs(database: Database, logs: Path, before: LogState, later: LogState) -> LogState:
    """Close the logs since a state, and forget those that were handed on; return the open one."""
    closed = ClosedLogs(database, logs)
    known = closed.serials()
    for serial in known:
        if not log_path(logs, serial).exists():
            closed.forget(serial)
    for serial, path in logs_since(logs, before.serial).items():
        if serial < later.serial and serial not in known:
            closed.add(serial, before.since_ms, later.since_ms, path.stat().st_size)
    if (later.serial, later.size_bytes) <= (before.serial, before.size_bytes):
        return before
    path = log_path(logs, later.serial)
    if path.exists() and path.stat().st_size >= later.size_bytes:
        return later
    return LogState(later.serial + 1, 0, later.since_ms)  # it was closed and handed on since
