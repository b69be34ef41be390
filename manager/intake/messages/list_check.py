"""Reads lists that people upload to their end before anything is done with them.

Runs in a worker process: what is no gzip, is cut short or is over a limit is refused whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from manager.intake.body_decoding import DecodingLimits, decode_body
from manager.intake.logs.log_job import RefusedBody
from shared.errors import FormatError, LimitError
from shared.frozen import frozen
from shared.wire.gzip_stream import split_lines
from shared.wire.server_list import LIST_LINE_LIMIT_BYTES

__all__ = ["ListJob", "check_list", "plain_chunks"]

READ_BYTES: Final = 32 * 1024  # what is left of a piece is copied at each step of unpacking
GZIP: Final = b"\x1f\x8b"


@frozen
class ListJob:
    """A list to check. cpu_s: of a processor at most."""

    body: Path
    limits: DecodingLimits
    cpu_s: float
    sender: int = 0  # people are one sender

    cpu_setting = "intake.host_list_cpu_s"
    is_long = False


def check_list(job: ListJob) -> RefusedBody | None:
    """Return why a list cannot be taken; None: it can."""
    try:
        for _ in split_lines(plain_chunks(job.body, job.limits), limit_bytes=LIST_LINE_LIMIT_BYTES):
            pass
    except (FormatError, LimitError) as error:
        return RefusedBody.of(error)
    return None


def plain_chunks(body: Path, limits: DecodingLimits) -> Iterable[bytes]:
    """Return the bytes of a body, decoded where it is gzip."""
    with body.open("rb") as file:
        zipped = file.read(len(GZIP)) == GZIP
    return decode_body(_chunks(body), limits) if zipped else _chunks(body)


def _chunks(body: Path) -> Iterator[bytes]:
    with body.open("rb") as file:
        while chunk := file.read(READ_BYTES):
            yield chunk
