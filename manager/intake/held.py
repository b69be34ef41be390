"""Which unit of the sender a page lay in, and whether the sender held it then.

Invariant: a page outside every unit that the agent held during the time of its line is
quarantined: kept as data, without influence. Where a host is split, the longest unit that was held
decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

__all__ = ["Held", "Holdings"]

SLACK_MS: Final = 10 * 60 * 1000
"""A log's times are the agent's clock, a holding's the manager's: they may differ by this much."""


@dataclass(frozen=True, slots=True)
class Held:
    """An agent held a unit for a while. until_ms None: it still does."""

    unit: str  # unit key
    since_ms: int
    until_ms: int | None


_Interval = tuple[str, int, float]  # path, since, until


class Holdings:
    """What one agent held, by host. About 300 bytes a unit."""

    def __init__(self, held: Iterable[Held]) -> None:
        self._by_host: dict[str, list[_Interval]] = {}
        for each in held:
            start = each.unit.index("/", each.unit.index("//") + 2)
            until_ms = float("inf") if each.until_ms is None else each.until_ms
            interval = (each.unit[start:], each.since_ms - SLACK_MS, until_ms + SLACK_MS)
            self._by_host.setdefault(each.unit[: start + 1], []).append(interval)
        for intervals in self._by_host.values():
            intervals.sort(key=lambda interval: -len(interval[0]))

    def unit_of(self, host: str, path: str, since_ms: int, until_ms: int) -> str | None:
        """Return the longest unit that holds a page and was held in that time, or None."""
        for unit_path, held_since, held_until in self._by_host.get(host, ()):
            if held_since <= until_ms and since_ms <= held_until and path.startswith(unit_path):
                return host + unit_path[1:]
        return None
