"""Whole segments, entered one of an agent at a time by `operations.segments.segment_intake`."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable

from manager.db import Database
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.segments.segment_intake import (
    ExaminationTools,
    accept_segment,
    known_segment,
)
from manager.operations.segments.segment_outcomes import Arrived, Outcome
from manager.operations.segments.segment_repair import accept_again, damaged_segments

__all__ = ["SegmentIntake"]


class SegmentIntake:
    """Takes segments; any thread may ask, and waits."""

    def __init__(self, db: Database, reading: ExaminationTools, now_ms: Callable[[], int]) -> None:
        self._db = db
        self._reading = reading
        self._now_ms = now_ms
        self._turns: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)

    def accept(self, agent: AgentIdentity, arrived: Arrived) -> Outcome:
        """Keep a segment, or say why not; see `accept_segment`."""
        with self._turns[agent.id]:
            damaged = damaged_segments(self._db, agent.id, arrived.sha256)
            if damaged:
                return accept_again(
                    self._db, self._reading, agent, arrived, damaged, self._now_ms()
                )
            return accept_segment(self._db, self._reading, agent, arrived, self._now_ms())

    def known(self, agent: AgentIdentity, sha256: str) -> Outcome | None:
        """Return the previous outcome for these bytes; None: they are wanted (again)."""
        if damaged_segments(self._db, agent.id, sha256):
            return None
        return known_segment(self._db, agent, sha256)
