"""Check of log lines against what their agent held: other lines are quarantined.

A log is judged by the rights at its time, not by those at its arrival. Invariant: a URL counts as
held exactly when, at some moment of the log's time, the longest existing unit that contains the
URL was the agent's. Intake decides about quarantined lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from manager.assignment.errors import RuleError
from shared.frozen import frozen
from shared.units import UnitIndex

__all__ = ["RightHistory", "UnitInterval"]

Span: TypeAlias = tuple[int, int]
"""First and last moment, both included, in ms."""


@frozen
class UnitInterval:
    """A unit, and from when to when something held for it. until_ms: None for still."""

    unit: str
    since_ms: int
    until_ms: int | None = None


class RightHistory:
    """The units that one agent held in the time of one log.

    own: the agent's holdings. carved: the times at which directories were separate units of any
    owner: then they were no part of the units around them. slack_ms: the largest accepted
    difference between the clocks of manager and agent.
    """

    def __init__(
        self,
        own: Iterable[UnitInterval],
        first_ms: int,
        last_ms: int,
        *,
        carved: Iterable[UnitInterval] = (),
        slack_ms: int = 0,
    ) -> None:
        if last_ms < first_ms:
            raise RuleError("assignment.bad_log_times", first_ms=first_ms, last_ms=last_ms)
        window = (first_ms - slack_ms, last_ms + slack_ms)
        self._own = _spans(own, window)
        self._carved = _spans(carved, window)
        self._index = UnitIndex([*self._own, *self._carved])
        self._answers: dict[str, bool] = {}

    @property
    def units(self) -> list[str]:
        """Return the units that the agent held at some moment of the log, ascending."""
        return sorted(unit for unit in self._own if self._holds_unit(unit))

    def holds(self, url: str) -> bool:
        """Return whether the agent held the unit of a canonical URL at some moment of the log."""
        unit = self._index.unit_of(url)
        return unit is not None and self._holds_unit(unit)

    def _holds_unit(self, unit: str) -> bool:
        known = self._answers.get(unit)
        if known is None:
            known = self._answers[unit] = self._look(unit)
        return known

    def _look(self, unit: str) -> bool:
        """Go from the longest unit outwards; each carved one hides what is around it for a time."""
        hidden: list[Span] = []
        inner: str | None = unit
        while inner is not None:
            if any(not _covered(span, hidden) for span in self._own.get(inner, ())):
                return True
            hidden += self._carved.get(inner, ())
            inner = self._around(inner)
        return False

    def _around(self, unit: str) -> str | None:
        """Return the next longer-reaching unit around a unit, or None."""
        parent = unit[: unit.rindex("/", 0, len(unit) - 1) + 1]
        return None if parent.endswith("//") else self._index.unit_of(parent)


def _spans(intervals: Iterable[UnitInterval], window: Span) -> dict[str, list[Span]]:
    """Return the intervals that touch the window, cut to it, by unit."""
    found: dict[str, list[Span]] = {}
    first, last = window
    for one in intervals:
        until = last if one.until_ms is None else min(one.until_ms, last)
        since = max(one.since_ms, first)
        if since <= until:
            found.setdefault(one.unit, []).append((since, until))
    return found


def _covered(span: Span, hidden: Iterable[Span]) -> bool:
    """Return whether every moment of a span lies in one of the hidden ones."""
    first, last = span
    for since, until in sorted(hidden):
        if since > first:
            return False
        first = max(first, until + 1)
        if first > last:
            return True
    return False
