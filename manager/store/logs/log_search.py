"""Search in the lines of crawl logs, newest report first and, in it, last line first.

Two passes: the first reads only the columns that are asked about, the second the whole rows of the
few lines that were found; headers are most of a log's bytes. Invariant: memory is bounded by
DuckDB's limit and by `limit` rows, however long the logs are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

from manager.store.connections import connect
from shared.frozen import frozen

__all__ = ["LineFilter", "LineSearch", "LogLine", "StoredLog", "line_search"]

HEADERS_MOST: Final = 16_384
"""Bytes of a line's headers that are shown."""


@frozen
class StoredLog:
    """A report, and where its rows lie. before_line: only lines before it; None: all."""

    report: int
    path: Path
    before_line: int | None = None


@frozen
class LineFilter:
    """Conditions on a line; a default matches all.

    name: a host's, without port; below: names below it, too. text: a part of the URL, whichever
    case. low, high: of the status; no_answer: also lines without one (low > high: only these).
    """

    name: str = ""
    below: bool = False
    text: str = ""
    low: int = 0
    high: int = 999
    no_answer: bool = True
    kind: str = ""
    only_strange: bool = False  # quarantined


@frozen
class LogLine:
    """A logged line. status None: no answer. elapsed in ms. unit None: quarantined."""

    report: int
    line: int
    url: str
    status: int | None
    request_bytes: int
    response_bytes: int
    elapsed_ms: int
    headers: bytes
    round: int
    kind: str
    unit: str | None


_FIND: Final = """
WITH files AS (
    SELECT unnest($paths) AS filename, unnest($reports) AS report, unnest($befores) AS before
)
SELECT filename, report, line
FROM read_parquet($paths, filename = true) JOIN files USING (filename)
WHERE line < before{conditions}
ORDER BY report DESC, line DESC LIMIT $most
"""
_FETCH: Final = """
SELECT line, url, status, request_bytes, response_bytes, elapsed_ms, headers, round, kind, unit
FROM read_parquet($path) WHERE line IN (SELECT unnest($lines))
ORDER BY line DESC
"""
_ENDLESS: Final = 2**62


class LineSearch:
    """Searches logs with a separate DuckDB, for one thread at a time.

    is_sound: no failure yet; after one bad failure it would fail at each file from then on.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.is_sound = True

    def close(self) -> None:
        """Release its memory."""
        self._connection.close()

    def find(
        self, logs: Sequence[StoredLog], wanted: LineFilter, most: int
    ) -> tuple[list[LogLine], int]:
        """Return at most so many lines, and how many files cannot be read: they hide no other.

        logs: newest first.
        """
        try:
            return self._find(logs, wanted, most), 0
        except duckdb.Error:
            self.is_sound = False
            lines: list[LogLine] = []
            broken = 0
            for log in logs:
                try:
                    lines += self._find([log], wanted, most - len(lines))
                except duckdb.Error:
                    broken += 1
            return lines, broken

    def _find(self, logs: Sequence[StoredLog], wanted: LineFilter, most: int) -> list[LogLine]:
        if not logs or most < 1:
            return []
        conditions, values = _conditions(wanted)
        befores = [_ENDLESS if log.before_line is None else log.before_line for log in logs]
        found = self._connection.execute(
            _FIND.format(conditions=conditions),
            {
                "paths": [str(log.path) for log in logs],
                "reports": [log.report for log in logs],
                "befores": befores,
                "most": most,
                **values,
            },
        ).fetchall()
        by_file: dict[tuple[int, str], list[int]] = {}
        for path, report, line in found:
            by_file.setdefault((report, path), []).append(line)
        return [
            line
            for (report, path), numbers in by_file.items()
            for line in self._fetch(report, path, numbers)
        ]

    def _fetch(self, report: int, path: str, numbers: list[int]) -> list[LogLine]:
        rows = self._connection.execute(_FETCH, {"path": path, "lines": numbers}).fetchall()
        return [LogLine(report, *(*row[:6], row[6][:HEADERS_MOST], *row[7:])) for row in rows]


def line_search(memory_bytes: int, spill: Path) -> LineSearch:
    """Return a search that keeps to so much memory."""
    return LineSearch(connect(memory_bytes, spill))


def _conditions(wanted: LineFilter) -> tuple[str, dict[str, Any]]:
    """Return the conditions, each beginning with AND, and the values that they name."""
    parts: list[str] = []
    values: dict[str, Any] = {}
    if wanted.name:
        ways = ["contains(host, '://' || $name || ':')"]
        if wanted.below:
            ways.append("contains(host, '.' || $name || ':')")
        parts.append(f"({' OR '.join(ways)})")
        values["name"] = wanted.name
    if wanted.text:
        parts.append("contains(lower(url), $text)")
        values["text"] = wanted.text.lower()
    if wanted.kind:
        parts.append("kind = $kind")
        values["kind"] = wanted.kind
    if wanted.only_strange:
        parts.append("NOT held")
    if (wanted.low, wanted.high, wanted.no_answer) != (0, 999, True):
        answered = "status BETWEEN $low AND $high"
        parts.append(f"({answered} OR status IS NULL)" if wanted.no_answer else answered)
        values |= {"low": wanted.low, "high": wanted.high}
    return "".join(f" AND {part}" for part in parts), values
