"""A line of things that wait for a turn, through the things themselves.

A `deque` takes 760 bytes even when it is empty, and a frontier has one for each host and each
address. Here each thing knows who stands ahead of it and who behind it, so it may stand in one line
at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Line", "Waiter"]


class Waiter(Protocol):
    """Whoever can stand in a line. `ahead` and `behind` belong to the line."""

    ahead: Any
    behind: Any


W = TypeVar("W", bound=Waiter)


class Line(Generic[W]):
    """First come, first served."""

    __slots__ = ("_last", "first")

    def __init__(self) -> None:
        self.first: W | None = None
        self._last: W | None = None

    def __bool__(self) -> bool:
        return self.first is not None

    def __iter__(self) -> Iterator[W]:
        one = self.first
        while one is not None:
            yield one
            one = one.behind

    def append(self, one: W) -> None:
        """Append an item."""
        one.behind, one.ahead = None, self._last
        if self._last is None:
            self.first = one
        else:
            self._last.behind = one
        self._last = one

    def popleft(self) -> W:
        """Take the first out. Raises IndexError where there is none."""
        one = self.first
        if one is None:
            raise IndexError("the queue is empty")
        self.remove(one)
        return one

    def remove(self, one: W) -> None:
        """Take an item out that is here, wherever it is."""
        if one.ahead is None:
            self.first = one.behind
        else:
            one.ahead.behind = one.behind
        if one.behind is None:
            self._last = one.ahead
        else:
            one.behind.ahead = one.ahead
        one.behind = one.ahead = None

    def clear(self) -> None:
        """Send everybody away."""
        while self:
            self.popleft()
