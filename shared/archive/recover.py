"""Mends a segment after a kill or a loss of power: keeps what is whole, cuts the rest.

One linear pass in bounded memory. What is kept ends with a whole capture; half of one, and every
byte behind the first damage, is cut and reported. Sealed segments are never touched: they do not
change, so damage there is for `verify.py` to report and for a copy to mend.
"""

from __future__ import annotations

import io
from pathlib import Path

from shared.archive.errors import DamageError
from shared.archive.scan import SegmentScan
from shared.archive.segment import OPEN_SUFFIX, OpenSegment
from shared.errors import ConflictError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Recovery", "recover_segment"]


@frozen
class Recovery:
    """Result of a recovery.

    segment    to continue (`SegmentWriter.adopt`) or to `seal`; None: nothing was whole, and
               the file was removed
    problem    why the rest was cut, None where nothing was
    """

    path: Path
    segment: OpenSegment | None
    captures: int
    kept_bytes: int
    cut_bytes: int
    problem: Message | None


def recover_segment(path: Path) -> Recovery:
    """Cut an `.open` segment to its last whole capture, on disk too.

    Raises ConflictError where it is sealed or another process writes it; OSError.
    """
    if not path.name.endswith(OPEN_SUFFIX):
        raise ConflictError("archive_files.sealed", path=str(path))
    segment = OpenSegment(path, io.FileIO(path, "r+b"))
    try:
        return _recover(segment)
    except BaseException:
        segment.let_go()
        raise


def _recover(segment: OpenSegment) -> Recovery:
    segment.lock()
    path = segment.open_path
    problem: Message | None = None
    with path.open("rb") as reading:
        scan = SegmentScan(reading, check_digests=False)
        try:
            for entry in scan:
                segment.note(entry, entry.offset)
        except DamageError as error:
            problem = error.message
        size_bytes = reading.seek(0, io.SEEK_END)
    kept_bytes = scan.whole_to
    if kept_bytes == 0:
        segment.discard()
    else:
        segment.keep_first(kept_bytes)
    return Recovery(
        path=path,
        segment=segment if kept_bytes else None,
        captures=segment.captures,
        kept_bytes=kept_bytes,
        cut_bytes=size_bytes - kept_bytes,
        problem=problem,
    )
