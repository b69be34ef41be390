"""Recovery of a ledger that is older than its files, as after a restore from a backup.

Such a ledger knows less than lies beside it: what its newer self had committed looks like the rest
of a write that a crash cut short, which a start takes back. The mark of the last commit, in a file
beside the ledger, tells them apart. It is written after each commit and not synced, so after a loss
of power it may be older than the ledger, and then says nothing; it is never newer than the newest
ledger.
New numbers are above all that were given. Logs that are here were not handed on yet: they are
closed, and the open one is continued from its last commit.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final

from agent.adapters.ledger.crawl_log import ClosedLogs, LogState, log_path, logs_since
from agent.adapters.ledger.database import Database
from agent.adapters.ledger.ledger_state import LedgerState
from agent.adapters.ledger.segments import SegmentState

__all__ = ["CommitMark", "catch_up"]

FILE: Final = "committed"
LONGEST_BYTES: Final = 4096


class CommitMark:
    """The mark of one ledger, written by its only process."""

    def __init__(self, folder: Path, secret: bytes) -> None:
        """Read what is there; a mark of another ledger counts as none."""
        self._ledger = blake2b(secret, digest_size=8, person=b"commit mark").hexdigest()
        self._secret = secret
        self.times_behind = 0
        self.last: LedgerState | None = None
        self._file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            values = json.loads(os.pread(self._file, LONGEST_BYTES, 0))
            if values["ledger"] == self._ledger:
                self.last = LedgerState(
                    int(values["next_job"]),
                    SegmentState(**values["segments"]),
                    LogState(**values["log"]),
                )
                self.times_behind = int(values["times_behind"])
        except (ValueError, KeyError, TypeError):
            self.last = None  # none yet, or half a one

    @property
    def name(self) -> str:
        """Return what tells the reports of this ledger from those of its newer self."""
        again = str(self.times_behind).encode() if self.times_behind else b""
        return blake2b(self._secret + again, digest_size=4).hexdigest()

    def write(self, state: LedgerState) -> None:
        """Note a commit; without room nothing is noted."""
        values = {"ledger": self._ledger, "times_behind": self.times_behind, **asdict(state)}
        data = json.dumps(values).encode()
        with contextlib.suppress(OSError):
            os.pwrite(self._file, data.ljust(LONGEST_BYTES // 4), 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def catch_up(
    database: Database, logs: Path, state: LedgerState, mark: CommitMark
) -> LedgerState | None:
    """Return the state of a ledger with its later commits; None: it is not older than its files."""
    later = mark.last
    if later is None or not state.is_behind(later):
        return None
    mark.times_behind += 1
    serial = max(state.segments.next_serial, later.segments.next_serial)
    return LedgerState(
        max(state.next_job, later.next_job),
        replace(state.segments, next_serial=serial),
        _close_logs(database, logs, state.log, later.log),
    )


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
