"""Rewrite a segment without some hosts. Runs in a child process without a database."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final, cast

import duckdb
import pyarrow as pa

from manager.store.segments.segment_index import read_rows, rows_in_file_order
from manager.store.segments.segment_parts import PartKind, SegmentPart, copy_captures, finish_part
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["RewriteJob", "rewrite_segment"]

UNREADABLE: Final = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EIO, errno.EACCES, errno.ESTALE}
)


@frozen
class RewriteJob:
    """A segment to rewrite. folder: for what is made. without: host keys."""

    source: Path
    index: Path
    folder: Path
    name: str
    kind: str
    without: tuple[str, ...]
    memory_bytes: int


def rewrite_segment(job: RewriteJob) -> SegmentPart | None:
    """Return the segment without those hosts, or None where nothing else is in it.

    Raises FormatError: segment or index is missing or damaged; StoreFullError.
    """
    try:
        return _rewritten(job)
    except FormatError as error:
        why = error.message
        raise FormatError("segments.not_rewritable", segment=job.name, why=why) from error
    except (OSError, EOFError, duckdb.Error, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno not in UNREADABLE:
            raise
        said = " ".join(str(error).split())[:200]
        raise FormatError("segments.not_rewritable", segment=job.name, why=said) from error


def _rewritten(job: RewriteJob) -> SegmentPart | None:
    rows = job.folder / "kept.rows"
    rows_in_file_order(job.index, rows, job.memory_bytes, list(job.without))
    if next(iter(read_rows(rows)), None) is None:
        return None
    target, moved = job.folder / "rewritten.warc.gz", job.folder / "moved.rows"
    with job.source.open("rb") as source:
        copy_captures(source, read_rows(rows), target, moved)
    return finish_part(cast("PartKind", job.kind), job.name, target, moved, job.memory_bytes)
