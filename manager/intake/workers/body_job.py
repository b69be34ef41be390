"""A job that reads a body elsewhere, and the way there: `BodyWorkers.run`, or a test's function."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import KW_ONLY
from typing import Any, Protocol, TypeVar

from shared.frozen import frozen

__all__ = ["BodyJob", "Reader"]


@frozen
class BodyJob:
    """A job for the workers. sender: whose turn it is. cpu_s: of a processor, by a setting."""

    _: KW_ONLY
    sender: int = 0
    cpu_s: float

    cpu_setting = ""

    @property
    def is_long(self) -> bool:
        """Return whether it takes longer than a turn of the worker processes."""
        return False


_Job = TypeVar("_Job", bound=BodyJob)
_Result = TypeVar("_Result")


class Reader(Protocol):
    """Reads a body elsewhere."""

    def __call__(
        self, function: Callable[[_Job], _Result], job: _Job, /
    ) -> Coroutine[Any, Any, _Result]:
        """Return function(job); raises what it raises, BodyLimitError, BusyError."""
        ...
