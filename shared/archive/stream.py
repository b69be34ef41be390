"""Records of a WARC file, one after the other, in bounded memory.

Reads gzip with a member per record (what this project writes), gzip with several records in a
member, and plain WARC. A record's block must be read before the next record is asked for, or is
skipped.

Invariant: no more than one chunk and one record header is held.
"""

from __future__ import annotations

from typing import BinaryIO, Protocol

from shared.archive.errors import DamageError
from shared.archive.gzip_member import CHUNK, MAGIC, Members
from shared.archive.record import MAX_HEADER_BYTES, RECORD_END, RecordHeader, parse_header
from shared.errors import FormatError

__all__ = ["RecordStream", "StoredRecord"]


class _Source(Protocol):
    """Pieces of a file that are read separately: gzip members, or the whole of a plain file."""

    start: int
    end: int
    header: bytes

    def open_next(self) -> bool: ...
    def read(self) -> bytes: ...


class StoredRecord:
    """One record: its header at once, its block while it is read.

    kind            WARC-Type in lower case
    offset          where its gzip member begins (plain file: where the record begins)
    alone           whether it begins its member
    member_header   first ten bytes of the member
    """

    __slots__ = ("_left", "_stream", "alone", "header", "kind", "length", "member_header", "offset")

    def __init__(
        self, stream: RecordStream, header: RecordHeader, offset: int, alone: bool, member: bytes
    ) -> None:
        self.header = header
        self.kind = header.need("WARC-Type").lower()
        self.offset = offset
        self.alone = alone
        self.member_header = member
        self.length = header.content_length
        self._left = self.length
        self._stream = stream

    def read(self, most: int = CHUNK) -> bytes:
        """Return the next bytes of the block, at most `most`; b"" at its end.

        Raises DamageError where the file ends before the block does.
        """
        if self._left == 0:
            return b""
        data = self._stream.take(min(most, self._left))
        if not data:
            raise DamageError(self.offset, "archive_files.record_cut", missing=self._left)
        self._left -= len(data)
        return data

    def read_all(self) -> bytes:
        """Return the rest of the block; the caller has checked `length`."""
        return b"".join(iter(self.read, b""))


class RecordStream:
    """The records of a file from `offset` on."""

    def __init__(self, file: BinaryIO, offset: int = 0) -> None:
        file.seek(offset)
        is_gzip = file.read(len(MAGIC)) == MAGIC
        self._source: _Source = Members(file, offset) if is_gzip else _Plain(file, offset)
        self._is_gzip = is_gzip
        self._buffer = b""
        self._at = 0
        self._record: StoredRecord | None = None

    @property
    def is_gzip(self) -> bool:
        """Return whether the file is compressed."""
        return self._is_gzip

    @property
    def end(self) -> int:
        """Offset behind the last record that was finished; exact for a member per record."""
        return self._source.end

    def next(self) -> StoredRecord | None:
        """Return the next record, None at the end of the file.

        Raises DamageError: the previous record is not whole, or no record begins here.
        """
        if self._record is not None:
            self.finish()
        alone = False
        while not self._skip_line_ends():
            alone = True
            if not self._source.open_next():
                return None
        offset = self._source.start if self._is_gzip else self._position()
        header = self._read_header(offset)
        try:
            self._record = StoredRecord(self, header, offset, alone, self._source.header)
        except FormatError as error:
            raise DamageError(offset, error.message) from error
        return self._record

    def finish(self) -> bool:
        """Skip what is left of the record; say whether its member ends right behind it.

        Raises DamageError where the record is cut short or not followed by two line ends.
        """
        record, self._record = self._record, None
        if record is None:
            return True
        while record.read():
            pass
        ending = b""
        while len(ending) < len(RECORD_END) and (data := self.take(len(RECORD_END) - len(ending))):
            ending += data
        if ending != RECORD_END:
            raise DamageError(record.offset, "archive_files.record_end")
        return not self._fill()

    def take(self, most: int) -> bytes:
        """Return at most `most` bytes of this member, b"" at its end."""
        if not self._fill():
            return b""
        data = self._buffer[self._at : self._at + most]
        self._at += len(data)
        return data

    def _fill(self) -> bool:
        while self._at == len(self._buffer):
            self._buffer, self._at = self._source.read(), 0
            if not self._buffer:
                return False
        return True

    def _position(self) -> int:
        return self._source.end - (len(self._buffer) - self._at)

    def _skip_line_ends(self) -> bool:
        """Go to the next byte of this member that is no line end; False where there is none."""
        while self._fill():
            rest = self._buffer[self._at :].lstrip(b"\r\n")
            self._at = len(self._buffer) - len(rest)
            if rest:
                return True
        return False

    def _read_header(self, offset: int) -> RecordHeader:
        block = b""
        while (end := block.find(b"\r\n\r\n")) < 0:
            if len(block) > MAX_HEADER_BYTES:
                raise DamageError(offset, "archive_files.long_record_header", most=MAX_HEADER_BYTES)
            data = self.take(CHUNK)
            if not data:
                found = block[:20].decode("latin-1")
                raise DamageError(offset, "archive_files.no_record", found=found)
            block += data
        self._at -= len(block) - end - 4  # what is behind the header came with the last piece
        try:
            return parse_header(block[:end])
        except FormatError as error:
            raise DamageError(offset, error.message) from error


class _Plain:
    """A WARC file without compression, as one piece."""

    def __init__(self, file: BinaryIO, offset: int) -> None:
        file.seek(offset)
        self.start = offset
        self.end = offset
        self.header = b""
        self._file = file
        self._opened = False

    def open_next(self) -> bool:
        opened, self._opened = self._opened, True
        return not opened

    def read(self) -> bytes:
        """Return the next bytes of the file; empty at its end."""
        data = self._file.read(CHUNK)
        self.end += len(data)
        return data
