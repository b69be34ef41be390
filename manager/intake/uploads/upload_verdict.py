"""Is a whole file what it was said to be?"""

from __future__ import annotations

from collections.abc import Callable

from manager.db import Database
from manager.intake.uploads.upload_errors import ChecksumError
from manager.operations.segments.upload_bytes import record_arrival, record_complete
from manager.operations.segments.uploads import TransferRow, offset
from manager.store import UploadPart, UploadParts
from shared.messages import Message

__all__ = ["verify_upload"]


def verify_upload(
    db: Database,
    parts: UploadParts,
    row: TransferRow,
    part: UploadPart,
    now_ms: Callable[[], int],
) -> TransferRow:
    """Verify a whole file and hand it on. Raises ChecksumError where it is wrong."""
    found = part.digests(row.size_bytes)
    judged = record_complete(db, row, found, now_ms())
    if found.sha256 == row.sha256:
        parts.finish(row.key)
        return record_arrival(db, row, now_ms())
    at = offset(judged)
    remedy: Message | None = Message("uploads.send_again_from", at=at)
    if judged.state == "refused":
        parts.remove(row.key)
        remedy = judged.result
    raise ChecksumError(
        "uploads.file_differs",
        at,
        filename=row.filename,
        found=found.sha256,
        expected=row.sha256,
        remedy=remedy,
    )
