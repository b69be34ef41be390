"""Lookup of the unit that holds a page, and of the time in which its agent had the right to it.

Invariant: a page outside every unit that the agent held during the time of its line is
quarantined: kept as data, without influence. Where a host is split, the longest unit that was held
decides; of several times that it was held, the last that began before the log was closed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from shared.frozen import frozen
from shared.wire.orders import OrderKind

__all__ = ["SLACK_MS", "LogKind", "RightHistory", "RightPeriod"]

LogKind = OrderKind

SLACK_MS: Final = 10 * 60 * 1000
"""A log's times are the agent's clock, a right's the manager's: they may differ by this much."""


@frozen
class RightPeriod:
    """Time in which an agent had the right to a unit. until_ms None: it still has."""

    unit: str  # unit key
    since_ms: int
    until_ms: int | None
    round: int
    kind: LogKind


class RightHistory:
    """Rights of one agent over time, by host. About 300 bytes a unit."""

    def __init__(self, held: Iterable[RightPeriod], closed_ms: int | None = None) -> None:
        """closed_ms: when the log was closed at the latest; None: it is not known."""
        self._closed_ms = closed_ms
        self._by_host: dict[str, list[tuple[str, RightPeriod]]] = {}
        for each in held:
            start = each.unit.index("/", each.unit.index("//") + 2)
            self._by_host.setdefault(each.unit[: start + 1], []).append((each.unit[start:], each))
        for of_host in self._by_host.values():
            of_host.sort(key=lambda one: (-len(one[0]), -one[1].since_ms))

    def of_host(self, host: str, since_ms: int, until_ms: int) -> tuple[bool, RightPeriod | None]:
        """Return whether all pages of a host lay in one unit of its rights in that time, and which.

        (True, None): it was not held at all. (False, None): ask `of_page` for each.
        """
        for unit_path, held in self._by_host.get(host, ()):
            if _was_held(held, since_ms, until_ms):
                if unit_path != "/":
                    return False, None
                return True, self._begun(host, unit_path, held, since_ms, until_ms)
        return True, None

    def of_page(self, host: str, path: str, since_ms: int, until_ms: int) -> RightPeriod | None:
        """Return the right to the longest unit that holds a page and was held in that time."""
        for unit_path, held in self._by_host.get(host, ()):
            if path.startswith(unit_path) and _was_held(held, since_ms, until_ms):
                return self._begun(host, unit_path, held, since_ms, until_ms)
        return None

    def _begun(
        self, host: str, path: str, last: RightPeriod, since_ms: int, until_ms: int
    ) -> RightPeriod:
        """Return the last right to a unit that began before the log was closed.

        Lines of a late log belong to the right of that time. If none began before, it is the
        last: the clock of the sender, by which it was closed, may be wrong.
        """
        if self._closed_ms is None or last.since_ms <= self._closed_ms:
            return last
        for unit_path, held in self._by_host[host]:
            if (
                unit_path == path
                and held.since_ms <= self._closed_ms
                and _was_held(held, since_ms, until_ms)
            ):
                return held
        return last


def _was_held(held: RightPeriod, since_ms: int, until_ms: int) -> bool:
    return held.since_ms - SLACK_MS <= until_ms and (
        held.until_ms is None or since_ms <= held.until_ms + SLACK_MS
    )
