"""Turn a spooled crawl log (M3) into Parquet and sums. Runs in a child process.

It opens no database, keeps nothing, and holds one block of lines however long the log is. What a
hostile log could do (a line of any length, a bomb of gzip, numbers that overflow, work without
end) ends in a refusal with the line's number, and then no file stays.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from manager.distance.line_sums import DirectorySum, UnitSum
from manager.intake.body_decoding import read_chunks
from manager.intake.logs.log_job import LogJob
from manager.intake.logs.log_reader import LogReader
from manager.intake.logs.log_sections import Section
from manager.operations.logs.log_summary import ParsedLog
from manager.store import SPILL, LogFile, read_directories, read_sums
from manager.store.logs.log_directories import BIG_HOST_LINES
from shared.errors import FormatError, LimitError, LineError
from shared.urls import host_of
from shared.wire.crawl_log import NAME_LINE_LIMIT_BYTES, LogName, decode_name
from shared.wire.gzip_stream import decompress, split_lines

__all__ = ["first_since_ms", "parse_log", "read_name"]

HEAD_BYTES: Final = 64 * 1024
HEAD_LINES: Final = 100


def read_name(body: Path) -> LogName:
    """Return what the first line of a spooled log says; raises LineError."""
    with body.open("rb") as file:
        first = file.readline(NAME_LINE_LIMIT_BYTES)
    if not first.endswith(b"\n"):
        raise LineError(1, "uploads.log_name_line")
    return decode_name(first[:-1])


def first_since_ms(body: Path) -> int | None:
    """Return the `#Since=` that stands before the first line of a log, or None.

    Whatever is wrong with the log is left to `parse_log`.
    """
    section = Section(since_ms=-1, until_ms=-1)
    with contextlib.suppress(FormatError, LimitError):
        plain = decompress(islice(_gzipped(body), 1), limit_bytes=HEAD_BYTES)
        for number, line in split_lines(plain, limit_bytes=HEAD_BYTES):
            if not line.startswith(b"#") or number > HEAD_LINES:
                break
            section = section.after(line[1:].decode("ascii", "replace"))
    return section.since_ms if section.since_ms >= 0 else None


def parse_log(job: LogJob) -> ParsedLog:
    """Write the lines of a log to the job's target and return its sums.

    Raises FormatError, LimitError for the log itself, StoreFullError; then no file stays.
    """
    reading = LogReader(job)
    part = job.target.with_suffix(".part")
    with LogFile(part, job.target) as file:
        reading.write_to(file, _gzipped(job.body))
    # A separate folder: DuckDB uses the same file names in each process.
    spill = job.target.parent / f"{SPILL}{os.getpid()}"
    memory_bytes, bounds = job.memory_bytes, job.bounds
    sums = tuple(read_sums(job.target, memory_bytes=memory_bytes, spill=spill, bounds=bounds))
    directories: tuple[DirectorySum, ...] = ()
    if _has_big(sums, job.big):
        directories = tuple(
            read_directories(
                job.target, job.big, memory_bytes=memory_bytes, spill=spill, bounds=bounds
            )
        )
    return reading.result(sums, directories)


def _has_big(sums: Iterable[UnitSum], big: Collection[str]) -> bool:
    """Return whether a host has directories to sum up; most logs have none that is big."""
    lines: Counter[str] = Counter()
    for one in sums:
        lines[host_of(one.unit)] += one.requests
    return not lines.keys().isdisjoint(big) or max(lines.values(), default=0) >= BIG_HOST_LINES


def _gzipped(body: Path) -> Iterator[bytes]:
    return read_chunks(body, NAME_LINE_LIMIT_BYTES)
