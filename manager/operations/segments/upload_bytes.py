"""Received bytes of an upload: progress, missing ranges, completion, verification.

A gap is a missing range [start, end); gaps are in order and disjoint. An upload begins with one,
the whole. Arriving bytes fill the first gap from its start; a block that turns out wrong becomes a
gap again. The sender always receives the start of the first gap, so a sender that only knows tus
("continue at this offset") sends the missing bytes and nothing else.

Invariants. The bytes before an offset that was sent are on the disk. A `received` upload had the
right SHA-256 and waits to be accepted; it is not visible before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from manager.db.engine import Database
from manager.db.segments import transfers
from manager.db.segments.transfers import TransferRow
from manager.errors import GoneError
from shared.messages import Message
from shared.wire.uploads import FileDigests, split_blocks

__all__ = [
    "Gap",
    "filled",
    "missing_bytes",
    "offset_of",
    "read_gaps",
    "record_arrival",
    "record_bytes",
    "record_complete",
    "write_gaps",
]

Gap = tuple[int, int]

CHECKS_MOST: Final = 5
"""A file whose whole is wrong so often is wrong where it comes from."""


def record_bytes(
    db: Database, row: TransferRow, start: int, end: int, now_ms: int, *, broke: bool = False
) -> TransferRow:
    """Record that the bytes [start, end) are on the disk; return the upload's present row."""
    with db.write() as tx:
        found = transfers.by_key(tx, row.key)
        if found is None or found.state != "receiving":
            raise GoneError("segments.upload_cancelled", filename=row.filename)
        transfers.update(
            tx,
            row.id,
            gaps=write_gaps(filled(read_gaps(found.gaps), start, end)),
            received_bytes=found.received_bytes + end - start,
            breaks=found.breaks + broke,
            changed_ms=now_ms,
        )
        return transfers.by_key(tx, row.key) or found


def record_complete(db: Database, row: TransferRow, found: FileDigests, now_ms: int) -> TransferRow:
    """Record the verification of all bytes: right, or which of them are wrong.

    Call before the file is moved; a right one stays `receiving`, without gaps, until
    `record_arrival`.
    """
    if found.sha256 == row.sha256:
        return row
    checks = row.checks + 1
    wrong = found.wrong_blocks(split_blocks(row.blocks or b"", row.size_bytes))
    values: dict[str, object] = {"gaps": write_gaps(wrong), "checks": checks, "changed_ms": now_ms}
    if checks >= CHECKS_MOST:
        values |= {
            "state": "refused",
            "ended_ms": now_ms,
            "result": Message("segments.wrong_sha256", checks=checks, sha256=found.sha256),
        }
    with db.write() as tx:
        transfers.update(tx, row.id, **values)
        return transfers.by_key(tx, row.key) or row


def record_arrival(db: Database, row: TransferRow, now_ms: int) -> TransferRow:
    """Take note that a whole file lies in `incoming`: it waits to be accepted."""
    with db.write() as tx:
        found = transfers.by_key(tx, row.key)
        if found is not None and found.state == "receiving":
            transfers.update(
                tx, row.id, state="received", gaps="[]", received_ms=now_ms, changed_ms=now_ms
            )
        return transfers.by_key(tx, row.key) or row


def read_gaps(text: str) -> tuple[Gap, ...]:
    """Return the gaps that `write_gaps` wrote."""
    return tuple((int(start), int(end)) for start, end in json.loads(text or "[]"))


def write_gaps(gaps: Sequence[Gap]) -> str:
    """Return gaps as the table keeps them."""
    return json.dumps([list(gap) for gap in gaps])


def offset_of(gaps: Sequence[Gap], size_bytes: int) -> int:
    """Return where to continue: the start of the first gap, or the end of the file."""
    return gaps[0][0] if gaps else size_bytes


def filled(gaps: Sequence[Gap], start: int, end: int) -> tuple[Gap, ...]:
    """Return what is still missing after the bytes [start, end) have come."""
    left: list[Gap] = []
    for first, last in gaps:
        if first < start:
            left.append((first, min(last, start)))
        if last > end:
            left.append((max(first, end), last))
    return tuple(gap for gap in left if gap[0] < gap[1])


def missing_bytes(gaps: Sequence[Gap]) -> int:
    """Return how many bytes are missing."""
    return sum(end - start for start, end in gaps)
