"""Turn a spooled crawl log (M3) into Parquet and sums. Runs in a child process.

It opens no database, keeps nothing, and holds one chunk of lines however long the log is. What a
hostile log could do (a line of any length, a bomb of gzip, numbers that overflow, work without
end) ends in a refusal with the line's number, and then no file stays.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final

from manager.assignment.holdings import Held, Holdings
from manager.intake.drawing import Draw, DrawnLine
from manager.intake.sections import LogKind, Section
from manager.store import LogDirectory, LogFile, LogRow, LogSum, read_directories, read_sums
from shared.errors import FormatError, LimitError, LineError, UrlError
from shared.urls import canonical, host_of
from shared.wire.crawl_log import (
    LOG_LINE_LIMIT_BYTES,
    NAME_LINE_LIMIT_BYTES,
    LogLine,
    LogName,
    decode_line,
    decode_name,
)
from shared.wire.gzip_stream import decompress, split_lines

__all__ = [
    "LogJob",
    "ParsedLog",
    "Refetched",
    "RefusedLog",
    "first_since_ms",
    "parse_log",
    "read_name",
]

READ_BYTES: Final = 256 * 1024
HEAD_BYTES: Final = 64 * 1024
LINES_BETWEEN_LOOKS: Final = 10_000
HOSTS_REMEMBERED: Final = 100_000
REFETCHED_MOST: Final = 10_000
"""Of one log: far more than any agent is ordered to fetch again."""
NUMBER_LIMIT: Final = 10**12
"""Of one line: a terabyte, or 31 years in milliseconds; with `SUM_LIMIT` no sum overflows."""
SUM_LIMIT: Final = 2**62

_STATUS: Final = re.compile(rb"HTTP/[0-9](?:\.[0-9])? ([1-5][0-9]{2})")


@dataclass(frozen=True, slots=True)
class LogJob:
    """A log to parse: where it lies, where its rows go, and what is known of its sender."""

    body: Path
    target: Path
    defaults: Section  # its times are those of a log that does not say
    held: tuple[Held, ...]
    round: int  # of lines that belong to no holding, in a log that does not say
    kind: LogKind
    decoded_limit_bytes: int
    memory_bytes: int
    cpu_s: float
    draw: int = 0  # pages at most
    big: tuple[str, ...] = ()  # hosts that are big by earlier logs


@dataclass(frozen=True, slots=True)
class Refetched:
    """A page that was fetched again, to be compared. status None: no answer."""

    url: str
    status: int | None
    response_bytes: int


@dataclass(frozen=True, slots=True)
class ParsedLog:
    """What a log says. The rows are in the job's target.

    directories: of big hosts. drawn: of its crawls, to be fetched again by others. refetched: of
    others' crawls.
    """

    lines: int
    quarantined: int
    since_ms: int
    until_ms: int
    sums: tuple[LogSum, ...]
    directories: tuple[LogDirectory, ...] = ()
    drawn: tuple[DrawnLine, ...] = ()
    refetched: tuple[Refetched, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedLog:
    """Why nothing of a log was taken."""

    message: str
    too_large: bool


def read_name(body: Path) -> LogName:
    """Return what the first line of a spooled log says; raises LineError."""
    with body.open("rb") as file:
        first = file.readline(NAME_LINE_LIMIT_BYTES)
    if not first.endswith(b"\n"):
        raise LineError(1, "must be AGENT.yyyymmddHHMM and LF, then gzip of the log lines")
    return decode_name(first[:-1])


def first_since_ms(body: Path) -> int | None:
    """Return the `#Since=` that stands before the first line of a log, or None.

    Whatever is wrong with the log is left to `parse_log`.
    """
    section = Section(since_ms=-1, until_ms=-1)
    with contextlib.suppress(FormatError, LimitError):
        plain = decompress(islice(_gzip_part(body), 1), limit_bytes=HEAD_BYTES)
        for _, line in split_lines(plain, limit_bytes=HEAD_BYTES):
            if not line.startswith(b"#"):
                break
            section = section.after(line[1:].decode("ascii", "replace"))
    return section.since_ms if section.since_ms >= 0 else None


def parse_log(job: LogJob) -> ParsedLog | RefusedLog:
    """Write the lines of a log to the job's target and return its sums, or why not.

    Raises StoreFullError; the log itself is never the cause of another error.
    """
    reading = _Reading(job)
    part = job.target.with_suffix(".part")
    try:
        with LogFile(part, job.target) as file:
            for row in reading.rows():
                file.add(row)
        spill = job.target.parent
        sums = read_sums(job.target, memory_bytes=job.memory_bytes, spill=spill)
        directories = read_directories(
            job.target, job.big, memory_bytes=job.memory_bytes, spill=spill
        )
        return reading.result(tuple(sums), tuple(directories))
    except LimitError as error:
        return RefusedLog(str(error), too_large=True)
    except FormatError as error:
        return RefusedLog(str(error), too_large=False)


class _Reading:
    """One pass over a log: lines to rows, and what is counted on the way."""

    def __init__(self, job: LogJob) -> None:
        self._job = job
        self._section = job.defaults
        self._holdings = Holdings(job.held)
        self._hosts: dict[str, str] = {}
        self._lines = 0
        self._quarantined = 0
        self._total = 0
        self._since_ms: int | None = None
        self._until_ms: int | None = None
        self._draw = Draw(job.draw)
        self._refetched: dict[str, Refetched] = {}

    def result(self, sums: tuple[LogSum, ...], directories: tuple[LogDirectory, ...]) -> ParsedLog:
        """Return what was counted; a log without lines has the time it was expected to have."""
        defaults = self._job.defaults
        return ParsedLog(
            lines=self._lines,
            quarantined=self._quarantined,
            since_ms=defaults.since_ms if self._since_ms is None else self._since_ms,
            until_ms=defaults.until_ms if self._until_ms is None else self._until_ms,
            sums=sums,
            directories=directories,
            drawn=self._draw.result(),
            refetched=tuple(self._refetched.values()),
        )

    def rows(self) -> Iterator[LogRow]:
        """Yield the rows of the log, in order; raises FormatError, LimitError."""
        gzipped = _gzip_part(self._job.body)
        plain = decompress(gzipped, limit_bytes=self._job.decoded_limit_bytes)
        # The name's line counts for the sender: an empty line stands in for it.
        numbered = split_lines(chain([b"\n"], plain), limit_bytes=LOG_LINE_LIMIT_BYTES)
        deadline = time.process_time() + self._job.cpu_s
        for number, line in islice(numbered, 1, None):
            if number % LINES_BETWEEN_LOOKS == 0 and time.process_time() > deadline:
                raise LimitError(
                    f"line {number}: reading took more than {self._job.cpu_s:g} s of a processor "
                    "(intake.log_cpu_s); send the log in smaller parts"
                )
            entry = decode_line(number, line)
            if isinstance(entry, LogLine):
                yield self._row(number, entry)
            else:
                self._section = self._section.after(entry.text)

    def _row(self, number: int, line: LogLine) -> LogRow:
        self._check_numbers(number, line)
        try:
            url = canonical(line.url)
        except UrlError as error:
            raise LineError(number, str(error)) from error
        host, path = self._split(url)
        section = self._section
        held = self._holdings.of_page(host, path, section.since_ms, section.until_ms)
        self._lines += 1
        if held is None:
            self._quarantined += 1
        said = held or self._job
        if self._since_ms is None or section.since_ms < self._since_ms:
            self._since_ms = section.since_ms
        if self._until_ms is None or section.until_ms > self._until_ms:
            self._until_ms = section.until_ms
        matched = _STATUS.match(line.headers)
        status = None if matched is None else int(matched[1])
        number_of_round = said.round if section.round is None else section.round
        kind = section.kind or said.kind
        if held is not None and kind == "crawl":
            self._draw.offer(held.unit, number_of_round, url, status, line.response_bytes)
        elif held is not None and kind == "refetch" and len(self._refetched) < REFETCHED_MOST:
            self._refetched[url] = Refetched(url, status, line.response_bytes)
        return (
            number,
            url,
            host,
            path,
            status,
            line.request_bytes,
            line.response_bytes,
            line.elapsed_ms,
            line.headers,
            number_of_round,
            kind,
            held is not None,
            None if held is None else held.unit,
        )

    def _check_numbers(self, number: int, line: LogLine) -> None:
        greatest = max(line.request_bytes, line.response_bytes, line.elapsed_ms)
        if greatest > NUMBER_LIMIT:
            raise LineError(number, f"{greatest}: bytes and ms of a line must be <= {NUMBER_LIMIT}")
        self._total += greatest
        if self._total > SUM_LIMIT:
            raise LineError(number, f"the sums of the log are over {SUM_LIMIT}")

    def _split(self, url: str) -> tuple[str, str]:
        """Return the host key and the path of a canonical URL; hosts come again and again."""
        slash = url.index("/", 8)
        authority = url[:slash]
        host = self._hosts.get(authority)
        if host is None:
            if len(self._hosts) >= HOSTS_REMEMBERED:
                self._hosts.clear()
            host = self._hosts[authority] = host_of(url)
        return host, url[slash:]


def _gzip_part(body: Path) -> Iterator[bytes]:
    with body.open("rb") as file:
        file.readline(NAME_LINE_LIMIT_BYTES)
        while chunk := file.read(READ_BYTES):
            yield chunk
