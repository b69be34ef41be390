"""The one row of the ledger that says how far everything is committed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from agent.adapters.ledger.crawl_log import LogState
from agent.adapters.ledger.database import Database, Query
from agent.adapters.ledger.segments import SegmentState

__all__ = ["LedgerState", "first_state", "read_state", "save_state"]

_STATE: Final = Query[tuple[bytes, int, str, int, int, int, int, int, int]](
    "SELECT secret, next_job, segment, segment_bytes, links_bytes, next_serial, "
    "log, log_bytes, log_since_ms FROM state"
)


@dataclass(slots=True)
class LedgerState:
    """The numbers to continue from. secret: keys the hashes of the seen-sets."""

    secret: bytes
    next_job: int
    segments: SegmentState
    log: LogState


def read_state(database: Database) -> LedgerState | None:
    """Return the committed state, or None of a new ledger."""
    rows = database.ask(_STATE)
    if not rows:
        return None
    secret, next_job, segment, segment_bytes, links_bytes, serial, *log = rows[0]
    segments = SegmentState(segment, segment_bytes, links_bytes, serial)
    return LedgerState(secret, next_job, segments, LogState(*log))


def first_state(database: Database, now_ms: int) -> LedgerState:
    """Begin a ledger in the open transaction; return its state."""
    state = LedgerState(secrets.token_bytes(16), 1, SegmentState(), LogState(1, 0, now_ms))
    database.run(
        "INSERT INTO state (one, secret, next_job, next_serial, segment, segment_bytes, "
        "links_bytes, log, log_bytes, log_since_ms) VALUES (1, ?, 1, 0, '', 0, 0, 1, 0, ?)",
        (state.secret, now_ms),
    )
    return state


def save_state(database: Database, next_job: int, segments: SegmentState, log: LogState) -> None:
    """Hand the state to the open transaction."""
    database.run(
        "UPDATE state SET next_job = ?, segment = ?, segment_bytes = ?, links_bytes = ?, "
        "next_serial = ?, log = ?, log_bytes = ?, log_since_ms = ?",
        (
            *(next_job, segments.name, segments.size_bytes, segments.links_bytes),
            *(segments.next_serial, log.serial, log.size_bytes, log.since_ms),
        ),
    )
