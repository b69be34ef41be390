"""Summary of a crawl log (M3) from intake: sums of units and directories, drawn pages."""

from __future__ import annotations

from shared.frozen import frozen

__all__ = ["DirectorySum", "DrawnUrl", "FinishedUnit", "LogSummary", "UnitSum"]


@frozen
class UnitSum:
    """The held lines of one unit in one round. kind: `probe` or `crawl`. ms: sum of elapsed.

    failed: requests without an answer. slowest_ms, slowest_bytes: of the line that took longest.
    spread: of the others, as `manager.distance.Spread` writes it. odd_lines, odd_bytes, odd_ms:
    lines that say what no line can, in none of the other numbers. robots_lines: of robots.txt.
    """

    unit: str
    round: int
    kind: str
    requests: int
    pages: int
    errors: int
    request_bytes: int
    response_bytes: int
    ms: int
    failed: int = 0
    slowest_ms: int = 0
    slowest_bytes: int = 0
    spread: str = ""
    odd_lines: int = 0
    odd_bytes: int = 0
    odd_ms: int = 0
    robots_lines: int = 0

    @property
    def page_lines(self) -> int:
        """Return how many lines count for a page limit: all but those of robots.txt."""
        return self.requests + self.odd_lines - self.robots_lines


@frozen
class DirectorySum:
    """The same for one directory of a big host: host key, and a path that ends in `/`."""

    host: str
    path: str
    round: int
    kind: str
    requests: int
    pages: int
    errors: int
    request_bytes: int
    response_bytes: int
    ms: int


@frozen
class DrawnUrl:
    """A page of a log that another agent may be asked to fetch again, if its rank is low."""

    unit: str
    round: int
    url: str
    rank: int
    status: int | None
    response_bytes: int


@frozen
class FinishedUnit:
    """A unit that the log says to be finished, and the order that it was held by."""

    unit: str
    round: int
    kind: str


@frozen
class LogSummary:
    """Content of one log. name: its first line; since_ms, until_ms: its time.

    units, directories: only lines that the agent held; `quarantined` counts the others. drawn: to
    be fetched again by others. refetched: (url, status, bytes) of pages that others crawled.
    finished: what its sender says to have no page left; says_finished: it tells such units.
    path: where the rows lie, for who reads them later. file_sha256: of that file.
    """

    name: str
    sha256: str
    size_bytes: int
    lines: int
    quarantined: int
    since_ms: int
    until_ms: int
    path: str
    units: tuple[UnitSum, ...] = ()
    directories: tuple[DirectorySum, ...] = ()
    drawn: tuple[DrawnUrl, ...] = ()
    refetched: tuple[tuple[str, int | None, int], ...] = ()
    finished: tuple[FinishedUnit, ...] = ()
    says_finished: bool = False
    file_sha256: str = ""
