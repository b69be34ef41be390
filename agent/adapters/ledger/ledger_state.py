"""The numbers to continue from: how far everything is committed, in one row of the ledger."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from agent.adapters.ledger.crawl_log import LogState
from agent.adapters.ledger.database import DATABASE, Database, Query
from agent.adapters.ledger.segments import SegmentState
from shared.frozen import frozen

__all__ = ["LedgerState", "first_state", "named_segment", "read_state", "save_state"]

PATIENCE_S: Final = 5.0

_STATE: Final = Query[tuple[bytes, int, str, int, int, int, int, int, int]](
    "SELECT secret, next_job, segment, segment_bytes, links_bytes, next_serial, "
    "log, log_bytes, log_since_ms FROM state"
)


@frozen
class LedgerState:
    """The numbers of a ledger that a commit stored."""

    next_job: int
    segments: SegmentState
    log: LogState

    def is_behind(self, other: LedgerState) -> bool:
        """Return whether another commit of the same ledger certainly came later."""
        mine, theirs = self.segments, other.segments
        return (
            other.next_job > self.next_job
            or theirs.next_serial > mine.next_serial
            or (
                bool(mine.name) and theirs.name == mine.name and theirs.size_bytes > mine.size_bytes
            )
            or other.log.serial > self.log.serial
            or (other.log.serial == self.log.serial and other.log.size_bytes > self.log.size_bytes)
        )


def read_state(database: Database) -> tuple[bytes, LedgerState] | None:
    """Return the secret that keys the hashes of seen-sets, and the state; None: a new ledger."""
    rows = database.ask(_STATE)
    if not rows:
        return None
    secret, next_job, segment, segment_bytes, links_bytes, serial, *log = rows[0]
    segments = SegmentState(segment, segment_bytes, links_bytes, serial)
    return secret, LedgerState(next_job, segments, LogState(*log))


def first_state(database: Database, now_ms: int) -> tuple[bytes, LedgerState]:
    """Begin a ledger in the open transaction; return its secret and its state."""
    secret = secrets.token_bytes(16)
    database.run(
        "INSERT INTO state (one, secret, next_job, next_serial, segment, segment_bytes, "
        "links_bytes, log, log_bytes, log_since_ms) VALUES (1, ?, 1, 0, '', 0, 0, 1, 0, ?)",
        (secret, now_ms),
    )
    return secret, LedgerState(1, SegmentState(), LogState(1, 0, now_ms))


def save_state(database: Database, state: LedgerState) -> None:
    """Hand the state to the open transaction."""
    segments, log = state.segments, state.log
    database.run(
        "UPDATE state SET next_job = ?, segment = ?, segment_bytes = ?, links_bytes = ?, "
        "next_serial = ?, log = ?, log_bytes = ?, log_since_ms = ?",
        (
            *(state.next_job, segments.name, segments.size_bytes, segments.links_bytes),
            *(segments.next_serial, log.serial, log.size_bytes, log.since_ms),
        ),
    )


def named_segment(folder: Path) -> str | None:
    """Return the sealed name of the open segment by the last commit; "": no segment, or no ledger.

    For removal while an agent runs. A segment is sealed first and committed as sealed behind that;
    where the disk is full the commit may come much later. A ledger that finds neither the open nor
    the sealed file would no longer open.
    None: the ledger cannot be read now, as where the disk has no room for SQLite's own files.
    """
    path = folder / DATABASE
    if not path.exists():
        return ""
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=PATIENCE_S)
        ) as ledger:
            row = ledger.execute("SELECT segment FROM state").fetchone()
    except sqlite3.Error:
        return None
    return "" if row is None else str(row[0])
