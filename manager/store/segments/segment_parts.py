"""Segments made from captures of another: its first record, then some of its captures, unchanged.

What a rewriting leaves are the same gzip members at other offsets, so digests stay right and
nothing is compressed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, Literal

from manager.store.durable_files import full_disk_said, open_new, sync_file
from manager.store.segments.segment_index import (
    HostSum,
    IndexRow,
    RowsFile,
    read_rows,
    sort_rows,
    sums_of_hosts,
)
from shared.archive.cdxj import REVISIT_TYPE, CdxjSorter, IndexEntry, cdxj_line
from shared.archive.segment_facts import SegmentFacts
from shared.archive.stream import RecordStream
from shared.archive.surt_key import surt_key
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["PartKind", "SegmentPart", "copy_captures", "finish_part", "warcinfo_length"]

PartKind = Literal["public", "withheld", "quarantined"]
READ_BYTES: Final = 1024**2


@frozen
class SegmentPart(SegmentFacts):
    """A segment with its index and CDXJ, complete, in a folder of temporary files."""

    kind: PartKind
    path: Path
    index: Path
    cdxj: Path
    hosts: tuple[HostSum, ...]


def warcinfo_length(file: BinaryIO) -> int:
    """Return the length of the first record's gzip member."""
    records = RecordStream(file)
    records.next()
    records.finish()
    return records.end


def copy_captures(
    source: BinaryIO, rows: Iterable[IndexRow], target: Path, moved_rows: Path
) -> None:
    """Write a segment of the first record and the captures of some rows, which rise in the file.

    moved_rows: gets the rows with their new offsets.
    """
    with full_disk_said(target.parent), open_new(target) as file, RowsFile(moved_rows) as moved:
        end = warcinfo_length(source)
        _copy(source, 0, end, file)
        for row in rows:
            _copy(source, row.capture_offset, row.capture_length, file)
            by = end - row.capture_offset
            moved.add(replace(row, offset=row.offset + by, capture_offset=end))
            end += row.capture_length
    sync_file(target)


def _copy(source: BinaryIO, offset: int, length: int, target: BinaryIO) -> None:
    source.seek(offset)
    while length:
        data = source.read(min(length, READ_BYTES))
        if not data:
            raise FormatError("segments.ends_before_record", offset=offset)
        target.write(data)
        length -= len(data)


def finish_part(
    kind: PartKind, name: str, path: Path, rows: Path, memory_bytes: int
) -> SegmentPart:
    """Make index, CDXJ and digests of a segment from its rows in file order."""
    index = rows.with_suffix(".parquet")
    cdxj = rows.with_suffix(".cdxj")
    sort_rows(rows, index, name, memory_bytes)
    _write_cdxj(rows, cdxj, name)
    hosts = sums_of_hosts(index, memory_bytes)
    size_bytes, md5, sha1, sha256 = _digests(path)
    return SegmentPart(
        kind=kind,
        name=name,
        path=path,
        index=index,
        cdxj=cdxj,
        size_bytes=size_bytes,
        md5=md5,
        sha1=sha1,
        sha256=sha256,
        index_bytes=index.stat().st_size,
        index_sha256=_sha256(index),
        cdxj_bytes=cdxj.stat().st_size,
        cdxj_sha256=_sha256(cdxj),
        captures=sum(host.captures for host in hosts),
        first_ms=min(host.first_ms for host in hosts),
        last_ms=max(host.last_ms for host in hosts),
        hosts=tuple(hosts),
    )


def _write_cdxj(rows: Path, target: Path, name: str) -> None:
    sorter = CdxjSorter(target.parent)
    try:
        for row in read_rows(rows):
            sorter.add(cdxj_line(_entry(row), row.offset, name))
        with full_disk_said(target.parent), open_new(target) as file:
            file.writelines(sorter)
    finally:
        sorter.close()
    sync_file(target)


def _entry(row: IndexRow) -> IndexEntry:
    return IndexEntry(
        urlkey=row.urlkey,
        surt=surt_key(row.url),
        url=row.url,
        fetched_at_ms=row.fetched_ms,
        mime=row.mime if row.refers_to_url is None else REVISIT_TYPE,
        status=row.status,
        digest=row.digest,
        offset=row.offset,
        length=row.length,
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digests(path: Path) -> tuple[int, str, str, str]:
    hashes = [hashlib.new(name, usedforsecurity=False) for name in ("md5", "sha1", "sha256")]
    size_bytes = 0
    with path.open("rb") as file:
        while data := file.read(READ_BYTES):
            size_bytes += len(data)
            for each in hashes:
                each.update(data)
    md5, sha1, sha256 = (each.hexdigest() for each in hashes)
    return size_bytes, md5, sha1, sha256
