"""What the reading of a crawl log is given, and what it gives."""

from __future__ import annotations

from pathlib import Path

from manager.assignment.holdings import Held
from manager.intake.drawing import DrawnLine
from manager.intake.sections import LogKind, Section
from manager.store import LogDirectory, LogSum
from shared.frozen import frozen

__all__ = ["FinishedLine", "LogJob", "ParsedLog", "Refetched"]


@frozen
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
    last_round: int | None = None  # the newest one; None: not known


@frozen
class Refetched:
    """A page that was fetched again, to be compared. status None: no answer."""

    url: str
    status: int | None
    response_bytes: int


@frozen
class FinishedLine:
    """A `#Finished=` of a log: the unit has no page left for the order that it was held by."""

    unit: str
    round: int
    kind: LogKind


@frozen
class ParsedLog:
    """What a log says. The rows are in the job's target.

    directories: of big hosts. drawn: of its crawls, to be fetched again by others. refetched: of
    others' crawls. finished: units that its sender is through with; says_finished: whether it
    tells such units at all, if there is none in this log.
    """

    lines: int
    quarantined: int
    since_ms: int
    until_ms: int
    sums: tuple[LogSum, ...]
    directories: tuple[LogDirectory, ...] = ()
    drawn: tuple[DrawnLine, ...] = ()
    refetched: tuple[Refetched, ...] = ()
    finished: tuple[FinishedLine, ...] = ()
    says_finished: bool = False
