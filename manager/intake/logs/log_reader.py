"""One pass over a log: lines to rows, and what is counted on the way.

Plain lines are read in columns (`log_columns`), the others one by one; both give the same rows.
Invariant: an error names the first line that is wrong; nothing of the log is kept then.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from manager.assignment.refetch_rules import Refetched
from manager.assignment.right_history import RightHistory, RightPeriod
from manager.distance.line_sums import DirectorySum, UnitSum
from manager.intake.body_decoding import decode_body, too_many_lines
from manager.intake.body_errors import BodyLimitError
from manager.intake.logs.log_columns import Authorities, PlainLines, split_block
from manager.intake.logs.log_job import LogJob
from manager.intake.logs.log_sections import LogKind, SectionCheck
from manager.intake.logs.refetch_draw import Draw
from manager.operations.logs.log_summary import CountedProbe, FinishedUnit, ParsedLog
from manager.store import LogFile, LogRow
from manager.store.logs.log_files import WRITTEN
from shared.errors import Fault, LineError, UrlError
from shared.urls import canonical, host_of
from shared.wire.crawl_log import LOG_LINE_LIMIT_BYTES, LogLine, decode_line
from shared.wire.gzip_stream import too_long

__all__ = ["LogReader"]

BLOCK_BYTES: Final = 4 * 1024**2
LINES_BETWEEN_LOOKS: Final = 10_000
REFETCHED_MOST: Final = 10_000
"""Of one log: far more than any agent is ordered to fetch again."""
NUMBER_LIMIT: Final = 10**12
"""Of one line: a terabyte, or 31 years in milliseconds; with `SUM_LIMIT` no sum overflows."""
SUM_LIMIT: Final = 2**62
FINISHED: Final = "Finished="
PROBED: Final = "Probed="
KINDS: Final[tuple[LogKind, ...]] = ("probe", "crawl", "refetch")

_STATUS: Final = re.compile(rb"HTTP/[0-9](?:\.[0-9])? ([0-9]{3})(?![0-9])")


class LogReader:
    """A log that is being read."""

    def __init__(self, job: LogJob) -> None:
        self._job = job
        self._section = job.defaults
        self._check = SectionCheck(job.defaults.until_ms, job.last_round)
        self._history = RightHistory(job.held, job.closed_ms)
        self._authorities: Authorities = {}
        self._next = 2  # the line that comes next; the name's line counts for the sender
        self._lines = 0
        self._quarantined = 0
        self._total = 0
        self._since_ms: int | None = None
        self._until_ms: int | None = None
        self._draws: dict[LogKind, Draw] = {
            "crawl": Draw(job.draw),
            "probe": Draw(job.draw_probes, "probe"),
        }
        self._probed: dict[CountedProbe, None] = {}
        self._refetched: dict[str, Refetched] = {}
        self._finished: dict[FinishedUnit, None] = {}
        self._says_finished = False
        # Rights that lines belong to, by number, 0: none; and of hosts in this section.
        self._held: list[RightPeriod | None] = [None]
        self._numbers: dict[RightPeriod, int] = {}
        self._of_host: dict[str, int] = {}

    def result(
        self, units: tuple[UnitSum, ...], directories: tuple[DirectorySum, ...]
    ) -> ParsedLog:
        """Return the counts; a log without lines has the time it was expected to have."""
        defaults = self._job.defaults
        return ParsedLog(
            lines=self._lines,
            quarantined=self._quarantined,
            since_ms=defaults.since_ms if self._since_ms is None else self._since_ms,
            until_ms=defaults.until_ms if self._until_ms is None else self._until_ms,
            units=units,
            directories=directories,
            drawn=tuple(page for draw in self._draws.values() for page in draw.result()),
            refetched=tuple(self._refetched.values()),
            finished=tuple(self._finished),
            says_finished=self._says_finished,
            probed=tuple(self._probed),
        )

    def write_to(self, file: LogFile, gzipped: Iterable[bytes]) -> None:
        """Write the rows of the log, in order; raises FormatError, LimitError."""
        limits = self._job.limits
        plain = decode_body(gzipped, limits)
        deadline = time.process_time() + self._job.cpu_s
        for block in self._blocks(plain):
            number = self._next
            # Counting takes a twentieth of all: only where so many bytes may be too many lines.
            if number - 2 + len(block) > limits.lines < number - 2 + block.count(b"\n"):
                raise too_many_lines(limits)
            for part in split_block(block, self._authorities):
                if isinstance(part, PlainLines):
                    self._look_at_clock(number + part.first, deadline)
                    file.add_batch(self._batch(number + part.first, part))
                    self._next = number + part.first + len(part)
                    continue
                place = number + part[0]
                if place % LINES_BETWEEN_LOOKS == 0:
                    self._look_at_clock(place, deadline)
                self._take_line(place, part[1], file)
                self._next = place + 1
        self._check.check_end()

    def _blocks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the lines, each with its LF, in blocks; a last line without LF gets one.

        Raises LimitError where a line is so long that no block ends; those before it were read.
        """
        parts: list[bytes] = []
        size = 0
        for chunk in chunks:
            parts.append(chunk)
            size += len(chunk)
            if size < BLOCK_BYTES:
                continue
            data = b"".join(parts)
            cut = data.rfind(b"\n") + 1
            if cut:
                yield data[:cut]
            if size - cut > LOG_LINE_LIMIT_BYTES:
                raise too_long(self._next, LOG_LINE_LIMIT_BYTES)
            parts, size = [data[cut:]], size - cut
        if data := b"".join(parts):
            yield data if data.endswith(b"\n") else data + b"\n"

    def _look_at_clock(self, number: int, deadline: float) -> None:
        if time.process_time() > deadline:
            cpu_s, setting = self._job.cpu_s, self._job.cpu_setting
            raise BodyLimitError(Fault.CPU_LIMIT, cpu_s, cpu_s, setting, line=number)

    def _take_line(self, number: int, line: bytes, file: LogFile) -> None:
        if len(line) > LOG_LINE_LIMIT_BYTES:
            raise too_long(number, LOG_LINE_LIMIT_BYTES)
        if line[:1] == b"#" and b"=" not in line:
            return  # a comment that says nothing
        entry = decode_line(number, line)
        if isinstance(entry, LogLine):
            file.add(self._row(number, entry))
        elif entry.text.startswith(FINISHED):
            self._note_finished(number, entry.text[len(FINISHED) :])
        elif entry.text.startswith(PROBED):
            self._note_probed(number, entry.text[len(PROBED) :])
        else:
            self._check.take(number, entry.text)
            self._section = self._section.after(entry.text)
            self._of_host.clear()

    def _note_finished(self, number: int, url: str) -> None:
        """Keep which unit is finished; one that the sender did not hold then means nothing.

        url: empty where a log only says that its sender tells such units.
        """
        self._says_finished = True
        held = self._unit_held(number, url, "uploads.finished_url") if url else None
        if held is not None and held.kind != "refetch":
            self._finished[FinishedUnit(held.unit, held.round, held.kind)] = None

    def _note_probed(self, number: int, url: str) -> None:
        """Keep of which unit the crawl continued a probe; one that was not held means nothing."""
        held = self._unit_held(number, url, "uploads.probed_url")
        number_of_round = self._section.round
        if held is not None and number_of_round is not None:
            self._probed[CountedProbe(held.unit, number_of_round)] = None

    def _unit_held(self, number: int, url: str, fault: str) -> RightPeriod | None:
        """Return the right to a unit that a comment names; None: the sender did not hold it.

        fault: the code of the message where it is no URL.
        """
        try:
            page = canonical(url)
        except UrlError as error:
            raise LineError(number, fault, Fault(error.code), problem=error.message) from error
        section = self._section
        host, path = host_of(page), page[page.index("/", 8) :]
        held = self._history.of_page(host, path, section.since_ms, section.until_ms)
        return held if held is not None and held.unit == host[:-1] + path else None

    def _batch(self, first: int, lines: PlainLines) -> pa.RecordBatch:
        """Return the rows of plain lines; first: the number of the first."""
        self._check.check_order()
        count, section = len(lines), self._section
        self._add_up(first, lines)
        held = self._held_of(lines)
        self._note_section(count, int(np.count_nonzero(held == 0)))
        numbers = np.flatnonzero(np.bincount(held))
        codes = np.zeros(numbers[-1] + 1, np.int32)
        codes[numbers] = np.arange(len(numbers))
        of_line = codes[held]
        known = [self._held[number] for number in numbers]
        rounds = np.array([(one or self._job).round for one in known])[of_line]
        if section.round is not None:
            rounds = np.full(count, section.round)
        kinds = [KINDS.index(section.kind or (one or self._job).kind) for one in known]
        self._look_at_pages(lines, known, of_line, rounds)
        return pa.RecordBatch.from_arrays(
            [
                pa.array(np.arange(first, first + count)),
                lines.urls,
                _repeated(lines.hosts, lines.codes.astype(np.int32)),
                lines.paths,
                pa.array(lines.status, mask=lines.status == 0),
                pa.array(lines.requested),
                pa.array(lines.responded),
                pa.array(lines.elapsed),
                lines.headers,
                pa.array(rounds),
                _repeated(KINDS, np.array(kinds, np.int32)[of_line]),
                pa.array(held > 0),
                _repeated([one.unit if one else "" for one in known], of_line, held == 0),
            ],
            schema=WRITTEN,
        )

    def _add_up(self, first: int, lines: PlainLines) -> None:
        greatest = np.maximum(np.maximum(lines.requested, lines.responded), lines.elapsed)
        sums = self._total + np.cumsum(greatest)
        if sums[-1] > SUM_LIMIT:
            raise _sums_too_large(first + int(np.argmax(sums > SUM_LIMIT)))
        self._total = int(sums[-1])

    def _held_of(self, lines: PlainLines) -> npt.NDArray[np.int64]:
        """Return the number of the right that each line belongs to."""
        section = self._section
        numbers = [self._of_host.get(host) for host in lines.hosts]
        for code in [code for code, number in enumerate(numbers) if number is None]:
            host = lines.hosts[code]
            whole, held = self._history.of_host(host, section.since_ms, section.until_ms)
            numbers[code] = self._of_host[host] = self._number_of(held) if whole else -1
        found = np.array(numbers, np.int64)[lines.codes]
        for place in np.flatnonzero(found < 0).tolist():
            host, path = lines.hosts[lines.codes[place]], lines.paths[place].as_py()
            found[place] = self._number_of(
                self._history.of_page(host, path, section.since_ms, section.until_ms)
            )
        return found

    def _number_of(self, held: RightPeriod | None) -> int:
        if held is None:
            return 0
        number = self._numbers.get(held)
        if number is None:
            number = self._numbers[held] = len(self._held)
            self._held.append(held)
        return number

    def _look_at_pages(
        self,
        lines: PlainLines,
        held: Sequence[RightPeriod | None],
        codes: npt.NDArray[np.int32],
        rounds: npt.NDArray[Any],
    ) -> None:
        """Draw from lines of crawls and probes, and keep the refetched pages for comparison.

        held: rights of the lines, each line's at its code.
        """
        kind = self._section.kind
        of_held = [one is not None and (kind or one.kind) for one in held]
        for drawn, draw in self._draws.items():
            if drawn not in of_held:
                continue
            found = np.flatnonzero(np.array([one == drawn for one in of_held])[codes])
            for place, rank in draw.chosen(len(found)):
                at = int(found[place])
                one = held[codes[at]]
                assert one is not None
                draw.enter(rank, one.unit, int(rounds[at]), *_seen(lines, at))
        if "refetch" in of_held:
            again = np.array([one == "refetch" for one in of_held])[codes]
            for at in np.flatnonzero(again).tolist():
                self._keep_refetched(*_seen(lines, at))

    def _keep_refetched(self, url: str, status: int | None, response_bytes: int) -> None:
        if len(self._refetched) < REFETCHED_MOST:
            self._refetched[url] = Refetched(url, status, response_bytes)

    def _note_section(self, lines: int, quarantined: int) -> None:
        """Count lines of this section."""
        section = self._section
        self._lines += lines
        self._quarantined += quarantined
        if self._since_ms is None or section.since_ms < self._since_ms:
            self._since_ms = section.since_ms
        if self._until_ms is None or section.until_ms > self._until_ms:
            self._until_ms = section.until_ms

    def _row(self, number: int, line: LogLine) -> LogRow:
        self._check.check_order()
        self._check_numbers(number, line)
        try:
            url = canonical(line.url)
        except UrlError as error:
            raise line_error(number, error) from error
        slash = url.index("/", 8)
        host, path = host_of(url), url[slash:]
        section = self._section
        held = self._history.of_page(host, path, section.since_ms, section.until_ms)
        self._note_section(1, int(held is None))
        said = held or self._job
        matched = _STATUS.match(line.headers)
        status = None if matched is None else int(matched[1]) or None
        number_of_round = said.round if section.round is None else section.round
        kind = section.kind or said.kind
        if held is not None and kind in self._draws:
            self._draws[kind].offer(held.unit, number_of_round, url, status, line.response_bytes)
        elif held is not None and kind == "refetch":
            self._keep_refetched(url, status, line.response_bytes)
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
            raise LineError(
                number,
                "uploads.number_too_large",
                Fault.LARGE_NUMBER,
                value=greatest,
                limit=NUMBER_LIMIT,
            )
        self._total += greatest
        if self._total > SUM_LIMIT:
            raise _sums_too_large(number)


def _sums_too_large(number: int) -> LineError:
    return LineError(number, "uploads.sums_too_large", Fault.LARGE_NUMBER, limit=SUM_LIMIT)


def line_error(number: int, error: UrlError) -> LineError:
    """Return the fault of a URL as that of its line."""
    return LineError(number, error.message, Fault(error.code))


def _repeated(
    values: Sequence[str],
    codes: npt.NDArray[np.int32],
    missing: npt.NDArray[np.bool_] | None = None,
) -> pa.DictionaryArray:
    """Return the value of each code; of missing ones none."""
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, pa.int32(), mask=missing), pa.array(values, pa.string())
    )


def _seen(lines: PlainLines, at: int) -> tuple[str, int | None, int]:
    """Return URL, status and bytes of a line."""
    return lines.urls[at].as_py(), int(lines.status[at]) or None, int(lines.responded[at])
