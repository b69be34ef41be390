"""A value that is dear to make and may be some seconds old.

Invariant: however many people look at once, it is made by one of them; the others wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Kept"]

T = TypeVar("T")


class Kept(Generic[T]):
    """The value, and when it was made. A value that could not be made is not kept."""

    def __init__(self, for_ms: int) -> None:
        self._for_ms = for_ms
        self._turn = threading.Lock()
        self._made: tuple[int, T] | None = None

    def get(self, now_ms: int, make: Callable[[], T]) -> T:
        """Return the value; make it again if it is too old (or from the future)."""
        with self._turn:
            if self._made is None or not 0 <= now_ms - self._made[0] < self._for_ms:
                self._made = (now_ms, make())
            return self._made[1]
