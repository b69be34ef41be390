"""Scope of the agent: its units, their jobs, and which of them are done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import Protocol

from agent.pipeline.messages.jobs import Job
from shared.frozen import frozen

__all__ = ["Jobs", "Scope", "Units"]


class Units(Protocol):
    """The units of a list."""

    def unit_of(self, url: str) -> str | None:
        """Return the longest unit that holds a canonical URL, or None: outside all units."""
        ...

    def of_host(self, host: str) -> tuple[str, ...]:
        """Return the units of a host."""
        ...

    def finish(self, unit: str) -> None:
        """Note that a unit's job is done."""
        ...

    def begin(self, number: int, unit: str) -> None:
        """Take in a unit that is not held, with the number of its job."""
        ...

    def end(self, unit: str) -> None:
        """Drop a unit; an unknown one is ignored."""
        ...


class Jobs(Protocol):
    """The orders of a list. To go through all of them reads all of them from the disk."""

    def __len__(self) -> int:
        """Return how many there are."""
        ...

    def __iter__(self) -> Iterator[str]:
        """Yield their units."""
        ...

    def __contains__(self, unit: object) -> bool:
        """Return whether a unit is held."""
        ...

    def __getitem__(self, unit: str) -> Job:
        """Return the order for a unit; raises KeyError."""
        ...

    def get(self, unit: str) -> Job | None:
        """Return the order for a unit, or None."""
        ...

    def numbered(self, number: int) -> Job | None:
        """Return the order with a number, or None."""
        ...

    def values(self) -> Iterable[Job]:
        """Yield all."""
        ...

    def forget(self, number: int) -> None:
        """Read an order from the disk again when it is asked for: it changed, or is gone."""
        ...


@frozen
class Scope:
    """Scope of the agent: the job of each page.

    finished: units whose job is done, so that nothing of them is fetched again. resting: pieces of
    split hosts of which nothing is left to fetch, and which only a list wakes again.
    A process has one scope. `seed` changes it in place, and `ListChanged` reports each change:
    a copy for each unit that is done would cost more and more.
    """

    units: Units
    jobs: Jobs  # by unit
    finished: AbstractSet[str]
    resting: set[str] = field(default_factory=set)

    def job_of(self, url: str) -> Job | None:
        """Return the job whose unit is the longest that holds a canonical URL, or None."""
        unit = self.units.unit_of(url)
        return None if unit is None else self.jobs.get(unit)
