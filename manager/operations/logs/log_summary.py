"""Content of a crawl log (M3): counts, sums of units and directories, pages to be compared."""

from __future__ import annotations

from dataclasses import KW_ONLY

from manager.assignment.refetch_rules import DrawnPage, Refetched
from manager.distance.line_sums import DirectorySum, UnitSum
from shared.frozen import frozen
from shared.wire.orders import OrderKind

__all__ = ["CountedProbe", "FinishedUnit", "LogSummary", "ParsedLog"]


@frozen
class FinishedUnit:
    """A unit without a page left, by `#Finished=`, and the order that it was held by."""

    unit: str
    round: int
    kind: OrderKind


@frozen
class CountedProbe:
    """A unit whose crawl in a round continued the sender's probe, by `#Probed=`."""

    unit: str
    round: int


@frozen
class ParsedLog:
    """Content of one log. since_ms, until_ms: its time.

    units, directories: of held lines only; `quarantined` counts the others. directories: of big
    hosts. drawn: of its crawls, to be fetched again by others. refetched: of others' crawls.
    finished: units that its sender is through with; says_finished: it tells such units.
    probed: units whose crawls continued its probes.
    """

    _: KW_ONLY
    lines: int
    quarantined: int
    since_ms: int
    until_ms: int
    units: tuple[UnitSum, ...] = ()
    directories: tuple[DirectorySum, ...] = ()
    drawn: tuple[DrawnPage, ...] = ()
    refetched: tuple[Refetched, ...] = ()
    finished: tuple[FinishedUnit, ...] = ()
    says_finished: bool = False
    probed: tuple[CountedProbe, ...] = ()


@frozen
class LogSummary(ParsedLog):
    """A log that is to be entered. name: its first line. path, file_sha256: of its rows."""

    _: KW_ONLY
    name: str
    sha256: str
    size_bytes: int
    path: str
    file_sha256: str = ""
