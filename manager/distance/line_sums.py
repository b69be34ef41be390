"""Sums of crawl log lines, of a unit and of a directory: the records from DuckDB to the tables.

Each number has one definition here and one name everywhere: in the query that makes it, in the
records of a log, and as a column. Records are made by the names of their fields only.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Final

from shared.frozen import frozen

__all__ = [
    "COUNTS",
    "UNIT_COUNTS",
    "DirectoryLineSums",
    "DirectorySum",
    "LineSums",
    "UnitLineSums",
    "UnitSum",
]

COUNTS: Final = ("requests", "pages", "errors", "request_bytes", "response_bytes", "ms")
UNIT_COUNTS: Final = (*COUNTS, "failed", "odd_lines", "odd_bytes", "odd_ms", "robots_lines")
"""The numbers of `LineSums` and of `UnitLineSums` that are added where sums are put together."""


@frozen
class LineSums:
    """Sums of lines of one round and kind. An odd line counts in none of them."""

    _: KW_ONLY
    round: int
    kind: str  # probe or crawl
    requests: int
    pages: int  # answered with 2xx; robots.txt is no page
    errors: int  # no answer, or 400 and above: `manager.store.logs.log_errors`
    request_bytes: int
    response_bytes: int
    ms: int  # of elapsed time


@frozen
class UnitLineSums(LineSums):
    """Sums of the lines of one unit."""

    _: KW_ONLY
    failed: int  # requests without a byte in answer
    slowest_ms: int  # of the line that took longest
    slowest_bytes: int
    spread: str  # of the lines with bytes, as `manager.distance.spread` writes it
    odd_lines: int = 0  # beyond the bounds of a line
    odd_bytes: int = 0
    odd_ms: int = 0
    robots_lines: int = 0  # of robots.txt, odd ones too

    @property
    def page_lines(self) -> int:
        """Return how many lines count for a page limit: all but those of robots.txt."""
        return self.requests + self.odd_lines - self.robots_lines


@frozen
class DirectoryLineSums(LineSums):
    """Sums of the lines of one directory, without its named subdirectories."""

    _: KW_ONLY
    path: str  # `/`, `/~koji/x/`


@frozen
class UnitSum(UnitLineSums):
    """Sums of the held lines of one log and unit. unit: its key."""

    unit: str


@frozen
class DirectorySum(DirectoryLineSums):
    """Sums of the held lines of one log in one directory of a big host. host: its key."""

    host: str
