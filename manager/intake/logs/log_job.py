"""Input of the job that reads a crawl log."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from manager.assignment.right_history import RightPeriod
from manager.intake.body_decoding import DecodingLimits
from manager.intake.logs.log_sections import LogKind, Section
from manager.intake.workers.body_job import BodyJob
from manager.store import LineBounds
from manager.store.logs.log_files import NO_BOUNDS
from shared.frozen import frozen

__all__ = ["LogJob"]

LONG_BYTES: Final = 32 * 1000**2
"""Logs of more bytes take longer than a turn: some million lines."""


@frozen
class LogJob(BodyJob):
    """A log to parse: where it lies, where its rows go, and what is known of its sender."""

    body: Path
    target: Path
    defaults: Section  # its times are those of a log that does not say
    held: tuple[RightPeriod, ...]
    round: int  # of lines that belong to no right, in a log that does not say
    kind: LogKind
    limits: DecodingLimits
    memory_bytes: int
    draw: int = 0  # pages at most, of crawls
    draw_probes: int = 0  # of probes
    bounds: LineBounds = NO_BOUNDS  # lines beyond them count in no sum
    big: tuple[str, ...] = ()  # hosts that are big by earlier logs
    closed_ms: int | None = None  # the latest moment at which it was closed; None: not known
    last_round: int | None = None  # the newest one; None: not known
    size_bytes: int = 0

    cpu_setting = "intake.log_cpu_s"

    @property
    def is_long(self) -> bool:
        """Return whether it takes longer than a turn of the worker processes."""
        return self.size_bytes > LONG_BYTES
