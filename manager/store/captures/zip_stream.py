"""A zip archive that is made while it is sent: no file behind it, memory bounded.

An entry whose bytes are at hand has its sizes in front; one that is made while it is sent has them
behind it (a data descriptor). Both may be larger than 4 GiB (zip64). All are deflated, also where
level 0 only wraps them, because readers of streams cannot find the end of a stored entry.
The directory at the end is kept packed, about 60 bytes an entry, and beyond 16 MB on the disk.
Source: PKWARE APPNOTE 6.3.9, 4.3 and 4.5.3.
"""

from __future__ import annotations

import struct
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Final, Self

from isal import igzip_lib

__all__ = ["ZipStream"]

MEMORY_BYTES: Final = 16 * 1024**2
PIECE_BYTES: Final = 256 * 1024
LEVEL: Final = 2
"""Of isal, 0 to 3: what segments are compressed with."""

_LOCAL: Final = struct.Struct("<4sHHHHHLLLHH")
_CENTRAL: Final = struct.Struct("<4sHHHHHHLLLHHHHHLL")
_VERSION: Final = 45
_UTF8, _BEHIND, _DEFLATED = 0x0800, 0x0008, 8
_FULL: Final = 0xFFFFFFFF
_FIRST_YEAR: Final = 1980


class ZipStream:
    """One archive; every method gives the next bytes of it. A context, or `close` it."""

    def __init__(self) -> None:
        self._offset = 0
        self._entries = 0
        self._directory = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        """Give up the directory."""
        self._directory.close()

    def whole(self, name: str, data: bytes, at_ms: int = 0) -> Iterator[bytes]:
        """Give an entry whose bytes are at hand, without one more copy of them."""
        packed: bytes = igzip_lib.compress(data, LEVEL, igzip_lib.COMP_DEFLATE)
        crc = zlib.crc32(data)
        named, moment = name.encode(), _dos_time(at_ms)
        head = _LOCAL.pack(
            b"PK\x03\x04", _VERSION, _UTF8, _DEFLATED, *moment, crc, len(packed), len(data),
            len(named), 0,
        )  # fmt: skip
        self._note(named, _UTF8, moment, crc, len(packed), len(data))
        self._offset += len(head) + len(named) + len(packed)
        yield head + named
        yield from _cut(packed)

    def streamed(
        self, name: str, pieces: Iterable[bytes], at_ms: int = 0, *, level: int = 6
    ) -> Iterator[bytes]:
        """Give the bytes of an entry as its pieces come. level: 0 only wraps them."""
        named, moment = name.encode(), _dos_time(at_ms)
        flags = _UTF8 | _BEHIND
        start = self._offset
        extra = struct.pack("<HHQQ", 1, 16, 0, 0)
        yield _LOCAL.pack(
            b"PK\x03\x04", _VERSION, flags, _DEFLATED, *moment, 0, _FULL, _FULL,
            len(named), len(extra),
        ) + named + extra  # fmt: skip
        packer = zlib.compressobj(level, zlib.DEFLATED, -15)
        crc = size = packed_size = 0
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
            size += len(piece)
            for part in _cut(piece):
                packed = packer.compress(part)
                packed_size += len(packed)
                if packed:
                    yield packed
        packed = packer.flush()
        packed_size += len(packed)
        yield packed + struct.pack("<4sLQQ", b"PK\x07\x08", crc, packed_size, size)
        self._note(named, flags, moment, crc, packed_size, size)
        self._offset = start + _LOCAL.size + len(named) + len(extra) + packed_size + 24

    def finish(self) -> Iterator[bytes]:
        """Give the directory; nothing comes behind it."""
        start = self._offset
        size = self._directory.tell()
        self._directory.seek(0)
        while piece := self._directory.read(PIECE_BYTES):
            yield piece
        entries = min(self._entries, 0xFFFF)
        if self._entries > 0xFFFE or start + size > _FULL - 1:
            yield struct.pack(
                "<4sQHHLLQQQQ", b"PK\x06\x06", 44, _VERSION, _VERSION, 0, 0,
                self._entries, self._entries, size, start,
            )  # fmt: skip
            yield struct.pack("<4sLQL", b"PK\x06\x07", 0, start + size, 1)
        yield struct.pack(
            "<4sHHHHLLH", b"PK\x05\x06", 0, 0, entries, entries, min(size, _FULL),
            min(start, _FULL), 0,
        )  # fmt: skip

    def _note(
        self, named: bytes, flags: int, moment: tuple[int, int], crc: int, packed: int, size: int
    ) -> None:
        """Write the entry into the directory; called with the offset where it begins."""
        wide = [value for value in (size, packed, self._offset) if value >= _FULL]
        extra = struct.pack(f"<HH{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        self._directory.write(
            _CENTRAL.pack(
                b"PK\x01\x02", _VERSION, _VERSION, flags, _DEFLATED, *moment, crc,
                min(packed, _FULL), min(size, _FULL), len(named), len(extra), 0, 0, 0, 0,
                min(self._offset, _FULL),
            ) + named + extra
        )  # fmt: skip
        self._entries += 1


def _cut(data: bytes) -> Iterator[bytes]:
    """Give the same bytes in parts of PIECE_BYTES at most."""
    if len(data) <= PIECE_BYTES:
        yield data
        return
    for start in range(0, len(data), PIECE_BYTES):
        yield data[start : start + PIECE_BYTES]


def _dos_time(at_ms: int) -> tuple[int, int]:
    moment = time.gmtime(max(0, at_ms) // 1000)
    if not _FIRST_YEAR <= moment.tm_year < _FIRST_YEAR + 128:
        return 0, 0x21
    clock = moment.tm_hour << 11 | moment.tm_min << 5 | moment.tm_sec // 2
    return clock, (moment.tm_year - _FIRST_YEAR) << 9 | moment.tm_mon << 5 | moment.tm_mday
