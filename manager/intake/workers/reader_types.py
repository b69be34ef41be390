"""The way to whoever reads bodies: `BodyWorkers.run`, or a function of a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from manager.intake.workers.body_workers import BodyJob

__all__ = ["Reader"]

_Job = TypeVar("_Job", bound=BodyJob)
_Result = TypeVar("_Result")


class Reader(Protocol):
    """Reads a body elsewhere."""

    def __call__(self, function: Callable[[_Job], _Result], job: _Job, /) -> Awaitable[_Result]:
        """Return function(job); raises BodyLimitError, BusyError."""
        ...
