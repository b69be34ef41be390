"""Input of the job that reads a crawl log, and the refusal that it may end with."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Final

from manager.assignment.right_history import RightPeriod
from manager.intake.body_decoding import DecodingLimits
from manager.intake.logs.log_sections import LogKind, Section
from manager.store import LineBounds
from manager.store.logs.log_files import NO_BOUNDS
from shared.errors import FormatError, LimitError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["LogJob", "RefusedBody"]

LONG_BYTES: Final = 32 * 1000**2
"""Logs of more bytes take longer than a turn: some million lines."""


@frozen
class LogJob:
    """A log to parse: where it lies, where its rows go, and what is known of its sender."""

    body: Path
    target: Path
    defaults: Section  # its times are those of a log that does not say
    held: tuple[RightPeriod, ...]
    round: int  # of lines that belong to no right, in a log that does not say
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
