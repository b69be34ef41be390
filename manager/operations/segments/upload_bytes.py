"""Received bytes of an upload: progress, completion, verification.

Invariants. The bytes before an offset that was sent are on the disk. A `received` upload had the
right SHA-256 and waits to be accepted; it is not visible before.
"""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database
from manager.db.segments import transfers
from manager.db.segments.transfers import TransferRow
from manager.errors import GoneError
from manager.operations.segments.upload_gaps import filled, read_gaps, write_gaps
from shared.messages import Message
from shared.wire.uploads import FileDigests, split_blocks

__all__ = ["record_arrival", "record_bytes", "record_complete"]

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
