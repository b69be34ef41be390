"""Input and output of the job that reads a crawl log."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Final

from manager.assignment.holdings import Held
from manager.intake.body_decoding import DecodingLimits
from manager.intake.logs.log_sections import LogKind, Section
from manager.intake.logs.refetch_draw import DrawnLine
from manager.store import LineBounds, LogDirectory, LogSum
from manager.store.logs.log_files import NO_BOUNDS
from shared.errors import FormatError, LimitError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["FinishedLine", "LogJob", "ParsedLog", "Refetched", "RefusedBody"]

LONG_BYTES: Final = 32 * 1000**2
"""Logs of more bytes take longer than a turn: some million lines."""


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
    bounds: LineBounds = NO_BOUNDS  # lines beyond them count in no sum
    big: tuple[str, ...] = ()  # hosts that are big by earlier logs
    closed_ms: int | None = None  # the latest moment at which it was closed; None: not known
    last_round: int | None = None  # the newest one; None: not known
    sender: int = 0
    size_bytes: int = 0
    ratio: float = 1e9  # decoded over sent bytes at most
    lines: int = 10**12  # at most, with comments

    cpu_setting = "intake.log_cpu_s"

    @property
    def is_long(self) -> bool:
        """Return whether it takes longer than a turn of the worker processes."""
        return self.size_bytes > LONG_BYTES

    @property
    def limits(self) -> DecodingLimits:
        """Return what it may decode to."""
        return DecodingLimits(self.decoded_limit_bytes, self.ratio, self.lines, "limits.log_lines")


@frozen
class RefusedBody:
    """Refusal of a whole body."""

    message: Message
    too_large: bool
    error: FormatError | LimitError = field(compare=False)

    @classmethod
    def of(cls, error: FormatError | LimitError) -> RefusedBody:
        """Return the refusal that an error is."""
        return cls(error.message, isinstance(error, LimitError), error)


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
    """Content of a log. The rows are in the job's target.

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
