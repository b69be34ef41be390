"""Search for lines of crawl logs, newest first, in portions of bounded time.

A line's time is by its answer's `Date`, or an estimate (`log_times`). A search looks
at reports from the newest on, until it has the lines that were asked for or its patience is over,
and returns a mark to continue from: so a search over years of logs answers at once, in portions.
Invariant: each line that matches is found once, whatever the portions; reports that come meanwhile
are newer than the mark and belong to the next search. Nothing is written.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.logs import reports
from manager.db.logs.reports import ReportRow
from manager.errors import BusyError
from manager.operations.identity.enrolment import agent_named
from manager.operations.logs.log_filters import Wanted, line_filter
from manager.operations.logs.log_times import line_time
from manager.operations.request_senders import sender
from manager.store import Layout
from manager.store.logs.log_search import LineFilter, LineSearch, LogLine, StoredLog, line_search
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = [
    "LINES_MOST",
    "FoundLine",
    "FoundLines",
    "LogLines",
    "Mark",
]

LINES_MOST: Final = 1_000
FIRST_REPORTS: Final = 2
"""Reports of the first look, which is the least that a portion is: where most lines match, these
have a page of them."""
TIMES_MORE: Final = 4
"""Reports of a look for each of the look before."""
REPORTS_AT_ONCE: Final = 32
"""At most; opening a file costs about a millisecond."""

LINES_AT_ONCE: Final = 500_000
SEARCHES_AT_ONCE: Final = 2
WAIT_S: Final = 10.0
MEMORY_BYTES: Final = 256 * 1024**2


@frozen
class Mark:
    """Position of a search: reports older than this one, and its lines before that one."""

    report: int
    line: int = 0

    def __str__(self) -> str:
        return f"{self.report}.{self.line}"

    @classmethod
    def read(cls, text: str) -> Mark:
        """Return the mark that was written so; raises FormatError."""
        match = re.fullmatch(r"([0-9]{1,18})\.([0-9]{1,18})", text)
        if match is None:
            raise FormatError("logs.bad_mark", value=text[:40])
        return cls(int(match[1]), int(match[2]))


@frozen
class FoundLine:
    """A line, who sent it, when it was fetched, and between which moments its report says so.

    Moments in epoch ms. is_exact: at_ms is by the answer's `Date`, else it is an estimate.
    """

    agent: str
    log: str
    since_ms: int | None
    until_ms: int | None
    line: LogLine
    at_ms: int | None = None
    is_exact: bool = False


@frozen
class FoundLines:
    """lines: newest first. mark: where to continue; None: all was looked at.

    reports: looked at this time. back_to_ms: until when they reach back; None: none was.
    gone: reports whose file is not there or cannot be read, as `prsm check` says.
    """

    lines: list[FoundLine]
    mark: Mark | None
    reports: int
    back_to_ms: int | None
    gone: int


class LogLines:
    """Looks for lines; a few searches at a time. There is one of it for console and API.

    What they read with is kept for the next: to make it takes longer than many a search.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._turns = threading.Condition()
        self._searching_for: set[str] = set()
        self._idle: list[LineSearch] = []

    def find(
        self,
        db: Database,
        wanted: Wanted,
        *,
        mark: Mark | None = None,
        most: int = 100,
        patience_s: float = 1.0,
    ) -> FoundLines:
        """Return lines from a mark on. Raises FormatError, NotFoundError (the agent), BusyError."""
        asked = line_filter(wanted)
        with db.read() as tx:
            names = agents.names(tx)
            agent = agent_named(tx, wanted.agent, see="agents list") if wanted.agent else None
        search = _Search(asked, max(1, min(most, LINES_MOST)), mark)
        deadline = time.monotonic() + patience_s
        at_once = FIRST_REPORTS
        with self._turn(), self._search_slot() as lines:
            while not search.is_over:
                with db.read() as tx:
                    rows = reports.logs_before(
                        tx,
                        search.next_report,
                        agent_id=None if agent is None else agent.id,
                        since_ms=wanted.since_ms,
                        until_ms=wanted.until_ms,
                        quarantined=wanted.quarantined,
                        limit=min(at_once, REPORTS_AT_ONCE),
                    )
                search.look(lines, self._layout, _first_lines(rows), at_end=not rows)
                at_once *= TIMES_MORE
                if time.monotonic() >= deadline:
                    break
        return search.result(names)

    @contextmanager
    def _search_slot(self) -> Iterator[LineSearch]:
        try:
            search = self._idle.pop()
        except IndexError:
            search = line_search(MEMORY_BYTES, self._layout.spool)
        is_done = False
        try:
            yield search
            is_done = search.is_sound
        finally:
            if is_done:
                self._idle.append(search)
            else:
                search.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for a turn; who searches already waits, so that others have one."""
        name = sender()
        with self._turns:
            if not self._turns.wait_for(lambda: self._has_turn(name), WAIT_S):
                raise BusyError("logs.too_many_searches", 5, most=SEARCHES_AT_ONCE, waited_s=WAIT_S)
            self._searching_for.add(name)
        try:
            yield
        finally:
            with self._turns:
                self._searching_for.remove(name)
                self._turns.notify_all()

    def _has_turn(self, name: str) -> bool:
        taken = self._searching_for
        return name not in taken and len(taken) < SEARCHES_AT_ONCE


class _Search:
    """A search in progress: the lines found, and how far it has come."""

    def __init__(self, line_filter: LineFilter, most: int, mark: Mark | None) -> None:
        self._filter = line_filter
        self._most = most
        self._mark = mark
        self._lines: list[LogLine] = []
        self._rows: dict[int, ReportRow] = {}
        self._looked = 0
        self._gone = 0
        self._back_to_ms: int | None = None
        self.is_over = False

    @property
    def next_report(self) -> int | None:
        """The next report has a smaller number than this; None: the newest is next."""
        if self._mark is None:
            return None
        return self._mark.report + 1 if self._mark.line else self._mark.report

    def look(
        self,
        search: LineSearch,
        layout: Layout,
        rows: list[ReportRow],
        *,
        at_end: bool,
    ) -> None:
        """Look through some reports, newest first; at_end: no more reports exist."""
        if at_end:
            self._mark, self.is_over = None, True
            return
        logs = [
            StoredLog(row.id, layout.kept / row.path, self._before(row.id))
            for row in rows
            if (layout.kept / row.path).is_file()
        ]
        wanted = self._most - len(self._lines)
        found, broken = search.find(logs, self._filter, wanted)
        self._rows |= {row.id: row for row in rows}
        self._lines += found
        if len(found) == wanted:
            last = found[-1]
            self._mark, self.is_over = Mark(last.report, last.line), True
            rows = [row for row in rows if row.id >= last.report]
        else:
            self._mark = Mark(rows[-1].id)
        self._looked += len(rows)
        self._gone += len(rows) - sum(log.report >= rows[-1].id for log in logs) + broken
        starts = [row.since_ms for row in rows if row.since_ms is not None]
        if starts:
            self._back_to_ms = min([*starts, *([self._back_to_ms] if self._back_to_ms else [])])

    def _before(self, report: int) -> int | None:
        if self._mark is None or self._mark.report != report:
            return None
        return self._mark.line

    def result(self, names: dict[int, str]) -> FoundLines:
        """Return the found lines and the mark."""
        lines = []
        for line in self._lines:
            row = self._rows[line.report]
            agent = names.get(row.agent_id, "")
            at = line_time(line.headers, line.line, row.lines, row.since_ms, row.until_ms)
            lines.append(
                FoundLine(
                    agent=agent,
                    log=row.name,
                    since_ms=row.since_ms,
                    until_ms=row.until_ms,
                    line=line,
                    at_ms=at.at_ms,
                    is_exact=at.is_exact,
                )
            )
        return FoundLines(
            lines=lines,
            mark=self._mark,
            reports=self._looked,
            back_to_ms=self._back_to_ms,
            gone=self._gone,
        )


def _first_lines(rows: list[ReportRow]) -> list[ReportRow]:
    """Return the first of some reports that together have no more lines than one look may take."""
    total = 0
    for number, row in enumerate(rows):
        total += row.lines
        if total > LINES_AT_ONCE and number:
            return rows[:number]
    return rows
