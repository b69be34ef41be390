"""One segment file while it grows, and its sealing.

`NAME.warc.gz.open` grows by whole captures. Sealing writes `NAME.warc.gz.cdxj` and
`NAME.warc.gz.sha256`, then renames the segment to `NAME.warc.gz`.

Invariant: the file ends with a whole capture whenever a call has returned or raised, save after
SegmentBrokenError; and a name without `.open` is a complete, immutable segment with its index and
its sum beside it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from shared.archive.cdxj import CdxjSorter, IndexEntry, cdxj_line
from shared.archive.encode import EncodedCapture
from shared.archive.errors import DamageError, DiskFullError, SegmentBrokenError
from shared.errors import ConflictError
from shared.frozen import frozen
from shared.full_disk import NO_ROOM

__all__ = [
    "INDEX_SUFFIX",
    "OPEN_SUFFIX",
    "SUM_SUFFIX",
    "KnownSegment",
    "Location",
    "OpenSegment",
    "SealedSegment",
]

OPEN_SUFFIX: Final = ".open"
INDEX_SUFFIX: Final = ".cdxj"
SUM_SUFFIX: Final = ".sha256"


_LATEST_MS: Final = 1 << 62

OpenFile = Callable[[Path, str], io.FileIO]


@frozen
class Location:
    """Location of a capture: the bytes [offset, offset + length) of a segment are its records.

    segment          name of the sealed file, which it will have
    response_offset  what an index points at; the response ends where the capture does
    """

    segment: str
    offset: int
    length: int
    response_offset: int


@frozen
class SealedSegment:
    """A complete segment; its index and its sum lie beside it."""

    path: Path
    size_bytes: int
    captures: int
    sha256: str
    first_ms: int
    last_ms: int
    index_path: Path
    sum_path: Path


@frozen
class KnownSegment:
    """Written part of an open segment, and facts that a start need not read from its bytes."""

    size_bytes: int
    sha256: str  # of these bytes
    captures: int
    first_ms: int
    last_ms: int


class OpenSegment:
    """A segment that one process writes; a lock keeps others, and recovery, away."""

    def __init__(self, path: Path, file: io.FileIO) -> None:
        """Take over a file; `create`, `resume` and `recover_segment` call this, and then `lock`."""
        self.open_path = path
        self.path = path.with_name(path.name.removesuffix(OPEN_SUFFIX))
        self._name = self.path.name  # asked for with each page, and `Path` computes it each time
        self.size_bytes = 0
        self.captures = 0
        self._times_ms: tuple[int, int] = (_LATEST_MS, 0)
        self._file = file
        self._hash = hashlib.sha256()
        self._index = CdxjSorter(path.parent)
        self._committed_bytes = 0
        self._broken: str | None = None

    @classmethod
    def create(cls, path: Path, warcinfo: bytes, open_file: OpenFile = io.FileIO) -> OpenSegment:
        """Begin the segment `path` (its sealed name) with its warcinfo.

        Raises FileExistsError; DiskFullError, and then no file is left.
        """
        if path.exists():
            raise FileExistsError(errno.EEXIST, "segment exists", str(path))
        open_path = path.with_name(path.name + OPEN_SUFFIX)
        file = open_file(open_path, "xb")
        try:
            segment = cls(open_path, file)
            segment.lock()
            segment._write(warcinfo)
            sync_directory(path.parent)
        except BaseException:
            file.close()
            open_path.unlink(missing_ok=True)
            raise
        return segment

    @classmethod
    def resume(cls, path: Path, known: KnownSegment, lines: Iterable[bytes]) -> OpenSegment:
        """Continue an `.open` segment whose content was recorded (`known`, and its index).

        lines: of its index, in any order. Bytes behind the known ones are cut off, on the disk
        too. Raises DamageError where they are not those that were written, ConflictError where
        another process writes it; OSError.
        """
        segment = cls(path, io.FileIO(path, "r+b"))
        try:
            segment.lock()
            segment.keep_first(known.size_bytes)
            segment._take_up(known, lines)
        except BaseException:
            segment.let_go()
            raise
        return segment

    @property
    def known(self) -> KnownSegment:
        """Return the record that `resume` needs, beside the lines of its index."""
        return KnownSegment(self.size_bytes, self._hash.hexdigest(), self.captures, *self._times_ms)

    def lock(self) -> None:
        """Claim the file for this process; raises ConflictError where another one has it."""
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConflictError("archive_files.other_writer", path=str(self.open_path)) from error

    def append(self, encoded: EncodedCapture) -> Location:
        """Write one capture behind the others; it is safe after the next `commit`.

        Raises DiskFullError: nothing was written, try again when there is room;
        SegmentBrokenError: see there; other OSErrors, and nothing was written.
        """
        offset = self.size_bytes
        self.append_all([encoded])
        return Location(self._name, offset, len(encoded.data), offset + encoded.entry.offset)

    def append_all(self, captures: Sequence[EncodedCapture]) -> list[bytes]:
        """Write captures behind the others by one write; the same errors hold for all of them.

        Return their lines of the index.
        """
        offset = self.size_bytes
        data = [encoded.data for encoded in captures]
        self._write(data[0] if len(data) == 1 else b"".join(data))
        lines = []
        for encoded in captures:
            lines.append(self.note(encoded.entry, offset + encoded.entry.offset))
            offset += len(encoded.data)
        return lines

    def note(self, entry: IndexEntry, offset: int) -> bytes:
        """Enter a capture that lies at `offset` into the index; return its line."""
        self.captures += 1
        first, last = self._times_ms
        self._times_ms = (min(first, entry.fetched_at_ms), max(last, entry.fetched_at_ms))
        line = cdxj_line(entry, offset, self._name)
        self._index.add(line)
        return line

    def keep_first(self, size_bytes: int) -> None:
        """Cut the file behind its first `size_bytes`, which are whole captures, and continue there.

        For recovery, which tells the captures with `note`. The cut is on disk on return.
        """
        self._file.truncate(size_bytes)
        os.fsync(self._file.fileno())
        self._file.seek(0)
        self._hash = hashlib.sha256()
        while data := self._file.read(1 << 20):
            self._hash.update(data)
        self.size_bytes = self._committed_bytes = size_bytes

    def _take_up(self, known: KnownSegment, lines: Iterable[bytes]) -> None:
        if self._hash.hexdigest() != known.sha256:
            raise DamageError(0, "archive_files.written_part_changed", size=known.size_bytes)
        for line in lines:
            self._index.add(line)
        self.captures = known.captures
        self._times_ms = (known.first_ms, known.last_ms)

    def commit(self) -> None:
        """Make every appended capture survive a loss of power.

        Raises SegmentBrokenError where the system cannot: what of the file is on disk is then
        unknown, also after a later success (the kernel reports a lost write once).
        """
        self._refuse_broken()
        if self._committed_bytes == self.size_bytes:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            self._broken = str(error)
            self._refuse_broken()
        self._committed_bytes = self.size_bytes

    def seal(self) -> SealedSegment:
        """Complete the segment; raises DiskFullError, and may then be called again.

        Raises ConflictError where its name is taken or nothing is in it.
        """
        if self.captures == 0:
            raise ConflictError("archive_files.empty_segment", segment=self.path.name)
        if self.path.exists():
            raise ConflictError("archive_files.segment_exists", segment=self.path.name)
        self.commit()
        index_path = self.path.with_name(self.path.name + INDEX_SUFFIX)
        sum_path = self.path.with_name(self.path.name + SUM_SUFFIX)
        sha256 = self._hash.hexdigest()
        _write_whole(index_path, self._index)
        _write_whole(sum_path, [f"{sha256}  {self.path.name}\n".encode()])
        self.open_path.rename(self.path)
        sync_directory(self.path.parent)
        self.let_go()
        first_ms, last_ms = self._times_ms
        return SealedSegment(
            path=self.path,
            size_bytes=self.size_bytes,
            captures=self.captures,
            sha256=sha256,
            first_ms=first_ms,
            last_ms=last_ms,
            index_path=index_path,
            sum_path=sum_path,
        )

    def close(self) -> None:
        """Commit and let go; the file keeps `.open` and can be recovered."""
        try:
            if self._broken is None and not self._file.closed:
                self.commit()
        finally:
            self.let_go()

    def discard(self) -> None:
        """Remove a segment in which nothing is."""
        self.open_path.unlink(missing_ok=True)
        self.let_go()

    def _write(self, data: bytes) -> None:
        self._refuse_broken()
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self._undo_partial_write()
            if error.errno in NO_ROOM:
                raise DiskFullError(
                    "archive_files.no_room_to_append",
                    path=str(self.open_path),
                    size_bytes=len(data),
                    why=error.strerror,
                ) from error
            raise
        self._hash.update(data)
        self.size_bytes += len(data)

    def _undo_partial_write(self) -> None:
        try:
            self._file.truncate(self.size_bytes)
            self._file.seek(self.size_bytes)
        except OSError as error:
            self._broken = str(error)
            self._refuse_broken()

    def _refuse_broken(self) -> None:
        if self._broken is not None:
            raise SegmentBrokenError(
                "archive_files.segment_broken", path=str(self.open_path), reason=self._broken
            )

    def let_go(self) -> None:
        """Close the files without committing; committed captures are on disk."""
        self._index.close()
        self._file.close()


def sync_directory(path: Path) -> None:
    """Make names created, renamed or removed in a directory survive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file that is there complete or not at all."""
    draft = path.with_name(path.name + ".tmp")
    try:
        with draft.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        if error.errno in NO_ROOM:
            raise DiskFullError(
                "archive_files.no_room", path=str(path), reason=error.strerror
            ) from error
        raise
