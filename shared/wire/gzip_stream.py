"""The gzip bodies of the messages, streamed both ways with bounded memory.

Invariant: at most one chunk of input and one of output is held, whatever the body's length; a
body that decodes to more than its limit, is cut short, or continues after its end is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, cast

from isal import isal_zlib
from isal.igzip_lib import IsalError

from shared.errors import Fault, FormatError, LimitError
from shared.messages import Message

__all__ = ["compress", "decompress", "split_lines", "too_long"]

CHUNK_BYTES: Final = 64 * 1024
# isal's stubs do not say that its error is an exception.
_GZIP_ERROR: Final = cast("type[Exception]", IsalError)
MAGIC: Final = b"\x1f\x8b\x08"
GZIP_WINDOW: Final = 31  # zlib's code for "gzip header and trailer, 32 KiB window"


def compress(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the gzip stream of the chunks; small chunks are gathered first."""
    packer = isal_zlib.compressobj(2, isal_zlib.DEFLATED, GZIP_WINDOW)
    gathered = bytearray()
    for chunk in chunks:
        gathered += chunk
        if len(gathered) >= CHUNK_BYTES:
            if packed := packer.compress(bytes(gathered)):
                yield packed
            gathered.clear()
    yield packer.compress(bytes(gathered)) + packer.flush()


def decompress(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[bytes]:
    """Yield the decoded bytes of a gzip stream of one or more members.

    Raises FormatError, with the fault's code: no gzip, damaged (a wrong checksum, too), cut short,
    or bytes behind the last member that begin none; LimitError: more than limit_bytes decoded.
    """
    unpacker = isal_zlib.decompressobj(GZIP_WINDOW)
    decoded_bytes = 0
    begun = False
    head = b""  # of a member of which too little has come to know it
    for chunk in chunks:
        data = head + chunk
        head = b""
        while data:
            if unpacker.eof or not begun:
                if not _begins_member(data):
                    raise _no_member(decoded_bytes, begun=begun)
                if len(data) < len(MAGIC):
                    head = data
                    break
            if unpacker.eof:  # gzip members may follow one another (RFC 1952, 2.2)
                unpacker = isal_zlib.decompressobj(GZIP_WINDOW)
            begun = True
            try:
                piece = unpacker.decompress(data, CHUNK_BYTES)
            except _GZIP_ERROR as error:
                raise FormatError(
                    "lists.damaged_gzip",
                    Fault.DAMAGED_GZIP,
                    decoded=decoded_bytes,
                    reason=str(error),
                ) from error
            decoded_bytes += len(piece)
            if decoded_bytes > limit_bytes:
                raise _too_large(limit_bytes)
            if piece:
                yield piece
            data = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if not piece and not unpacker.eof and not data:
                break
    if head:
        raise _cut_short(decoded_bytes)
    if not begun:
        raise FormatError("lists.empty_body", Fault.EMPTY_BODY)
    while not unpacker.eof:
        # What the last input still holds back; no progress means that the end is missing.
        piece = unpacker.decompress(b"", CHUNK_BYTES)
        if not piece:
            raise _cut_short(decoded_bytes)
        decoded_bytes += len(piece)
        if decoded_bytes > limit_bytes:
            raise _too_large(limit_bytes)
        yield piece


def _begins_member(data: bytes) -> bool:
    """Return whether bytes begin a member of gzip, as far as they go (RFC 1952, 2.3.1)."""
    return MAGIC.startswith(data[: len(MAGIC)])


def _no_member(decoded_bytes: int, *, begun: bool) -> FormatError:
    if not begun:
        return FormatError("lists.not_gzip", Fault.NOT_GZIP)
    return FormatError("lists.trailing_garbage", Fault.TRAILING_GARBAGE, decoded=decoded_bytes)


def _cut_short(decoded_bytes: int) -> FormatError:
    return FormatError("lists.truncated_gzip", Fault.TRUNCATED_GZIP, decoded=decoded_bytes)


def _too_large(limit_bytes: int) -> LimitError:
    return LimitError("lists.decoded_too_large", Fault.TOO_LARGE, limit=limit_bytes)


def split_lines(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line without its LF); a last line without LF counts.

    Raises LimitError, with the line's number, for a line longer than limit_bytes.
    """
    number = 0
    rest = b""
    for chunk in chunks:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            number += 1
            if len(line) > limit_bytes:
                raise too_long(number, limit_bytes)
            yield number, line
        if len(rest) > limit_bytes:
            raise too_long(number + 1, limit_bytes)
    if rest:
        yield number + 1, rest


def too_long(number: int, limit_bytes: int) -> LimitError:
    """Return the error for a line over its limit."""
    problem = Message("lists.long_line", limit=limit_bytes)
    return LimitError("lists.line", Fault.LONG_LINE, line=number, problem=problem)
