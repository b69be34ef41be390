"""Says whether a segment is whole, and where it is not.

Other validators pass a file that was cut between or inside its last members; this one reads every
trailer, length and digest. A flipped bit that gzip cannot see (in a header field, in the padding
of a last byte) changes no record; only the SHA-256 of the file shows it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from shared.archive.cdxj import IndexEntry
from shared.archive.errors import DamageError
from shared.archive.scan import SegmentScan
from shared.frozen import frozen

__all__ = ["VerifiedSegment", "verify_segment"]


@frozen
class VerifiedSegment:
    """A segment whose every byte was read and found right."""

    size_bytes: int
    captures: int
    sha256: str
    first_ms: int | None
    last_ms: int | None


def verify_segment(
    path: Path, sha256: str | None = None, each: Callable[[IndexEntry], None] | None = None
) -> VerifiedSegment:
    """Read a whole segment strictly, in bounded memory.

    sha256: hexadecimal that the file must have. each: is given the entry of every capture as it
    is found right, so that a caller can check hosts or build an index in the same pass.
    Raises DamageError with the offset of the first record that is wrong; OSError.
    """
    captures = 0
    times: list[int] = []
    with path.open("rb") as file:
        for entry in SegmentScan(file, check_digests=True):
            captures += 1
            moment = entry.fetched_at_ms
            times = [min([moment, *times]), max([moment, *times])]
            if each is not None:
                each(entry)
        size_bytes = file.seek(0, 2)
        file.seek(0)
        computed = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 is not None and computed != sha256.lower():
        raise DamageError(0, "archive_files.file_digest", computed=computed, expected=sha256)
    first, last = times or (None, None)
    return VerifiedSegment(size_bytes, captures, computed, first, last)
