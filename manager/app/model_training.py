"""Learn distances in a child process: a minute of computing must not slow down every request.

Invariant: the child has no database handle, and ends when it has learned. Small lessons are learned
here; a child costs a second to start, more than they.
"""

from __future__ import annotations

from typing import Final

from manager.distance import Lesson, Taught, learn
from manager.intake.workers.workers import Limits, Workers

__all__ = ["ChildLearner"]

SMALL_PROBES: Final = 2_000
"""Probes that are learned from in tens of milliseconds."""

LIMITS: Final = Limits(memory_bytes=2_000_000_000, cpu_s=600.0)
"""Many times what a lesson of 10,000 agents needs."""


class ChildLearner:
    """A learner for `Learning`; any thread may call it."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._workers = Workers(1, limits)

    def __call__(self, lesson: Lesson) -> Taught | None:
        """Return what a lesson comes to. Raises BusyError where the child died."""
        if len(lesson.probes.agent) <= SMALL_PROBES:
            return learn(lesson)
        try:
            return self._workers.run_here(learn, lesson)
        finally:
            self._workers.rest()

    def end(self) -> None:
        """Kill the child at once, in the middle of its work."""
        self._workers.end()

    def close(self) -> None:
        """End the child."""
        self._workers.close()
