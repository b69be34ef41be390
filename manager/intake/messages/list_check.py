"""Reads lists that people upload to their end before anything is done with them.

Runs in a worker process: what is no gzip, is cut short or is over a limit is refused whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from manager.intake.body_decoding import DecodingLimits, decode_body, read_chunks
from manager.intake.workers.body_job import BodyJob
from shared.frozen import frozen
from shared.wire.gzip_stream import split_lines
from shared.wire.server_list import LIST_LINE_LIMIT_BYTES

__all__ = ["ListJob", "check_list", "plain_chunks"]

GZIP: Final = b"\x1f\x8b"


@frozen
class ListJob(BodyJob):
    """A list to check. People are one sender."""

    body: Path
    limits: DecodingLimits

    cpu_setting = "intake.host_list_cpu_s"


def check_list(job: ListJob) -> None:
    """Raise FormatError or LimitError where a list cannot be taken."""
    for _ in split_lines(plain_chunks(job.body, job.limits), limit_bytes=LIST_LINE_LIMIT_BYTES):
        pass


def plain_chunks(body: Path, limits: DecodingLimits) -> Iterable[bytes]:
    """Return the bytes of a body, decoded where it is gzip."""
    with body.open("rb") as file:
        zipped = file.read(len(GZIP)) == GZIP
    chunks = read_chunks(body)
    return decode_body(chunks, limits) if zipped else chunks
