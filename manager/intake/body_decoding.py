"""Decodes gzip bodies within limits: of bytes, of decoded over sent bytes, of lines.

Comments are lines. Invariant: a body over a limit costs no more than its part up to the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from manager.intake.body_errors import BodyLimitError
from shared.errors import Fault
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.gzip_stream import decompress

__all__ = ["DecodingLimits", "decode_body", "read_chunks", "too_many_lines"]

FREE_BYTES: Final = 8 * 1024**2
"""Decoded bytes for which no ratio counts: small bodies of equal lines are harmless."""

READ_BYTES: Final = 32 * 1024  # what is left of a piece is copied at each step of unpacking


@frozen
class DecodingLimits:
    """Limits of a decoded body. ratio: decoded over sent bytes, at any place of the body.

    lines_setting: the name of the setting that `lines` comes from.
    """

    decoded_bytes: int
    ratio: float
    lines: int
    lines_setting: str


def read_chunks(body: Path, name_bytes: int = 0) -> Iterator[bytes]:
    """Yield a spooled body in pieces, without a first line of at most name_bytes; 0: all of it."""
    with body.open("rb") as file:
        file.readline(name_bytes)
        while chunk := file.read(READ_BYTES):
            yield chunk


def decode_body(chunks: Iterable[bytes], limits: DecodingLimits) -> Iterator[bytes]:
    """Yield the decoded bytes of a gzip body. Raises FormatError, LimitError."""
    sent_bytes = decoded_bytes = 0

    def counted() -> Iterator[bytes]:
        nonlocal sent_bytes
        for chunk in chunks:
            sent_bytes += len(chunk)
            yield chunk

    for piece in decompress(counted(), limit_bytes=limits.decoded_bytes):
        decoded_bytes += len(piece)
        if decoded_bytes > FREE_BYTES + limits.ratio * sent_bytes:
            raise BodyLimitError(
                Fault.DECODED_RATIO,
                round(decoded_bytes / sent_bytes),
                limits.ratio,
                "limits.decoded_ratio",
                Message("uploads.repeat_less"),
            )
        yield piece


def too_many_lines(limits: DecodingLimits) -> BodyLimitError:
    """Return the refusal of a body that has more lines than it may."""
    return BodyLimitError(
        Fault.TOO_MANY_LINES, limits.lines + 1, limits.lines, limits.lines_setting
    )
