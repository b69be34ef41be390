"""The numbers to continue from: how far everything is committed, in one row of the ledger."""

from __future__ import annotations

import secrets
from typing import Final

from agent.adapters.ledger.crawl_log import LogState
from agent.adapters.ledger.database import Database, Query
from agent.adapters.ledger.segments import SegmentState
from shared.frozen import frozen

__all__ = ["LedgerState", "first_state", "read_state", "save_state"]

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
