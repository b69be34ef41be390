"""Background verification of all kept files: one pass after the other, at a bounded rate.

A pass begins so many days after the one before it began, and reads every file that a row names.
Its cursor is in the tables, so another manager, or the next start, continues behind it. Reading is
spread over half of the time, so that an interrupted pass still ends in time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from manager.db.engine import Database
from manager.db.segments import integrity, kept_files
from manager.db.segments.integrity import ScrubRow
from manager.errors import BusyError, ConflictError
from manager.operations.actor import Actor, note
from manager.operations.alert import Alert
from manager.operations.segments.file_checks import FileFinding, examine_file, file_finding
from manager.operations.segments.file_problems import ask_again, record_findings, record_recovery
from manager.operations.segments.kept_file_list import (
    FileKind,
    FilePlaces,
    KeptFile,
    files_after,
    is_needed,
)
from manager.store.segments.verification import Verdict
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Pace", "ScrubProgress", "Scrubber", "scrub_alerts", "scrub_now", "scrub_progress"]

DAY_S: Final = 86_400.0
SLICE_S: Final = 20.0
"""How long one call reads on, at least one row's files."""
ROWS: Final = 10
LEAST_BYTES_PER_S: Final = 100_000.0
SPREAD: Final = 2.0
"""A pass reads so many times as fast as it must."""


@frozen
class Pace:
    """days: within which everything is read; 0: never. bytes_per_s: at most."""

    days: float
    bytes_per_s: float

    def rate(self, total_bytes: int) -> float:
        """Return the bytes per second at which so many bytes are read."""
        if not self.days:
            return self.bytes_per_s
        needed = SPREAD * total_bytes / (self.days * DAY_S)
        return min(self.bytes_per_s, max(LEAST_BYTES_PER_S, needed))

    def is_too_slow(self, total_bytes: int) -> bool:
        """Return whether so many bytes cannot be read in time."""
        return bool(self.days) and total_bytes > self.bytes_per_s * self.days * DAY_S


@frozen
class ScrubProgress:
    """Progress of the verification of all kept files.

    running: a pass is open. rate: its bytes per second. ends_ms: of the pass, by that rate; None:
    none runs. next_ms: when the next begins; None: none will. too_slow: the files are more than
    can be read in time. problems: files that are not whole now.
    """

    running: bool
    begun_ms: int | None
    files: int
    total_files: int
    bytes: int
    total_bytes: int
    rate_bytes_per_s: int
    ends_ms: int | None
    next_ms: int | None
    last_begun_ms: int | None
    last_ended_ms: int | None
    last_files: int
    last_problems: int
    too_slow: bool
    days: float
    problems: int


_log: Final = logging.getLogger(__name__)


class _StoppedError(Exception):
    """The manager stops."""


Rebuild = Callable[[FileFinding], bool]
"""Makes an index again from its segment; tells whether it could."""


@dataclass(eq=False)
class Scrubber:
    """Reads files when the clock calls it; `end` stops it in the middle of one."""

    db: Database
    places: FilePlaces
    pace: Pace
    now_ms: Callable[[], int]
    rebuild: Rebuild = lambda _: False
    clock_s: Callable[[], float] = time.monotonic
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)

    def end(self) -> None:
        """Read no more."""
        self._stopped.set()

    def run(self) -> int:
        """Read files of the pass for a while; begin one where it is time. Return how many."""
        current = self._current()
        if current is None:
            ask_again(self.db, self.now_ms())
            return 0
        rate = self.pace.rate(current.total_bytes)
        throttle = _Throttle(rate, self._stopped, self.clock_s)
        until_s = self.clock_s() + SLICE_S
        read = 0
        try:
            while True:
                current, files = self._step(current, throttle)
                read += files
                if current.ended_ms is not None or self.clock_s() >= until_s:
                    break
        except _StoppedError:
            return read
        ask_again(self.db, self.now_ms())
        return read

    def _current(self) -> ScrubRow | None:
        """Return the open pass, begun now where it is time; None: there is none now."""
        now_ms = self.now_ms()
        with self.db.read() as tx:
            last = integrity.last_scrub(tx)
        if last is not None and last.ended_ms is None:
            return last
        if not self.pace.days:
            return None
        if last is not None and 0 <= now_ms - last.begun_ms < self.pace.days * DAY_S * 1000:
            return None
        return begin_scrub(self.db, now_ms)

    def _step(self, current: ScrubRow, throttle: _Throttle) -> tuple[ScrubRow, int]:
        page = files_after(self.db, self.places, current.cursor, ROWS)
        findings: list[FileFinding] = []
        size_bytes = 0
        for file in page.files:
            verdict = examine_file(file, self.places, deep=True, throttle=throttle)
            size_bytes += verdict.size_bytes
            found = file_finding(file, verdict)
            if found is None:
                self._sound(file, verdict)
            elif is_needed(self.db, file, self.places):
                findings.append(found)
        now_ms = self.now_ms()
        if findings:
            record_findings(self.db, findings, now_ms)
            broken = {one.segment_id for one in findings if one.kind is FileKind.SEGMENT}
            for one in findings:
                if one.segment_id is not None and one.segment_id not in broken:
                    self._make_again(one)
        is_last = not page.cursor
        with self.db.write() as tx:
            now = integrity.last_scrub(tx)
            if now is None or now.id != current.id:
                raise _StoppedError  # a new pass was begun meanwhile
            integrity.update_scrub(
                tx,
                current.id,
                cursor=page.cursor or current.cursor,
                files=current.files + len(page.files),
                bytes=current.bytes + size_bytes,
                problems=current.problems + len(findings),
                ended_ms=now_ms if is_last else None,
            )
            if is_last:
                note(
                    tx,
                    now_ms,
                    Actor("clock", ""),
                    "archive.finish-scrub",
                    str(current.id),
                    files=current.files,
                    problems=current.problems,
                )
            after = integrity.last_scrub(tx)
        assert after is not None
        return after, len(page.files)

    def _make_again(self, found: FileFinding) -> None:
        """Make an index again; if that fails, its problem stays open and the pass continues."""
        try:
            self.rebuild(found)
        except (OSError, PrsmError) as error:
            _log.warning("%s: could not be made again: %s", found.place, error)

    def _sound(self, file: KeptFile, verdict: Verdict) -> None:
        now_ms = self.now_ms()
        record_recovery(self.db, file, now_ms)
        if file.sha256 or not verdict.sha256 or file.kind not in (FileKind.LOG, FileKind.CDXJ):
            return
        with self.db.write() as tx:
            if file.kind is FileKind.LOG:
                kept_files.set_log_sha256(tx, file.row_id, verdict.sha256)
            else:
                kept_files.set_cdxj_sha256(tx, file.row_id, verdict.size_bytes, verdict.sha256)


class _Throttle:
    """Waits behind each portion, so that no more than a rate is read. Raises _StoppedError."""

    def __init__(self, rate: float, stopped: threading.Event, clock_s: Callable[[], float]) -> None:
        self._rate = rate
        self._stopped = stopped
        self._clock_s = clock_s
        self._free_s = clock_s()

    def __call__(self, size_bytes: int) -> None:
        self._free_s = max(self._free_s, self._clock_s()) + size_bytes / self._rate
        wait_s = self._free_s - self._clock_s()
        if wait_s > 0 and self._stopped.wait(wait_s):
            raise _StoppedError
        if self._stopped.is_set():
            raise _StoppedError


def begin_scrub(db: Database, now_ms: int) -> ScrubRow:
    """Begin a pass over all kept files."""
    with db.write() as tx:
        files, size_bytes = kept_files.totals(tx)
        integrity.add_scrub(tx, begun_ms=now_ms, total_files=files, total_bytes=size_bytes)
        begun = integrity.last_scrub(tx)
    assert begun is not None, "it was begun a moment ago"
    return begun


def scrub_now(db: Database, actor: Actor, now_ms: int) -> None:
    """Begin a pass before its time. Raises ConflictError where one is open."""
    with db.read() as tx:
        last = integrity.last_scrub(tx)
    if last is not None and last.ended_ms is None:
        raise ConflictError("segments.scrub_running", read=last.files, files=last.total_files)
    begin_scrub(db, now_ms)
    with db.write() as tx:
        note(tx, now_ms, actor, "archive.scrub", "")


def scrub_progress(db: Database, pace: Pace, now_ms: int) -> ScrubProgress:
    """Return how far the verification of all kept files is."""
    with db.read() as tx:
        last = integrity.last_scrub(tx)
        ended = integrity.last_scrub(tx, ended=True)
        problems = len(integrity.open_problems(tx, 10_000))
        files, size_bytes = kept_files.totals(tx)
    current = None if last is None or last.ended_ms is not None else last
    total_bytes = size_bytes if current is None else current.total_bytes
    rate = pace.rate(total_bytes)
    ends_ms = next_ms = None
    if current is not None:
        ends_ms = now_ms + round(max(0, total_bytes - current.bytes) / rate * 1000)
    elif pace.days:
        next_ms = now_ms if last is None else last.begun_ms + round(pace.days * DAY_S * 1000)
    return ScrubProgress(
        running=current is not None,
        begun_ms=None if current is None else current.begun_ms,
        files=0 if current is None else current.files,
        total_files=files if current is None else current.total_files,
        bytes=0 if current is None else current.bytes,
        total_bytes=total_bytes,
        rate_bytes_per_s=round(rate),
        ends_ms=ends_ms,
        next_ms=next_ms,
        last_begun_ms=None if ended is None else ended.begun_ms,
        last_ended_ms=None if ended is None else ended.ended_ms,
        last_files=0 if ended is None else ended.files,
        last_problems=0 if ended is None else ended.problems,
        too_slow=pace.is_too_slow(size_bytes),
        days=pace.days,
        problems=problems,
    )


def scrub_alerts(db: Database, pace: Pace) -> list[Alert]:
    """Return the alert that the kept files are more than can be read in time."""
    try:
        with db.read() as tx:
            _, size_bytes = kept_files.totals(tx)
    except BusyError:
        return []
    if not pace.is_too_slow(size_bytes):
        return []
    too_slow = Message(
        "segments.scrub_too_slow",
        size_bytes=size_bytes,
        days=pace.days,
        second_bytes=pace.bytes_per_s,
    )
    return [Alert("scrub:", too_slow)]
