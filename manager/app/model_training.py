"""Trains the distance model in a child process: a minute of computing must delay no request.

Invariant: the child has no database handle, and ends after the training. A model of few probes is
trained here, as a child costs a second to start.
"""

from __future__ import annotations

from typing import Final

from manager.distance.training_data import TrainingData, TrainingResult, train
from manager.intake.workers.workers import Limits, Workers

__all__ = ["ChildTrainer"]

SMALL_PROBES: Final = 2_000
"""Probes that a model is trained on in tens of milliseconds."""

LIMITS: Final = Limits(memory_bytes=2_000_000_000, cpu_s=600.0)
"""Many times what the probes of 10,000 agents need."""


class ChildTrainer:
    """A trainer for `ModelTraining`; any thread may call it."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._workers = Workers(1, limits)

    def __call__(self, training_data: TrainingData) -> TrainingResult | None:
        """Return the trained model. Raises BusyError where the child died."""
        if len(training_data.probes.agent) <= SMALL_PROBES:
            return train(training_data)
        try:
            return self._workers.run_here(train, training_data)
        finally:
            self._workers.rest()

    def end(self) -> None:
        """Kill the child at once, in the middle of its work."""
        self._workers.end()

    def close(self) -> None:
        """End the child."""
        self._workers.close()
