"""Figures over millions of rows, for people to look at: asked again at most so often.

What takes less than `QUICK_S` to ask is asked each time, so a small system always shows what is.
What takes longer is kept for `TIMES` as long as it took, and then shown once more while it is asked
anew behind; nobody waits for it but the first. What is older than `OLDEST_S` is not shown any more.
Invariant: decisions never read a kept figure; it may be minutes old. However many people look at
once, one of them asks.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

__all__ = ["KeptFigures"]

QUICK_S: Final = 0.05
TIMES: Final = 20.0
OLDEST_S: Final = 300.0
KEYS_MOST: Final = 100

T = TypeVar("T")


@dataclass
class _Figure:
    turn: threading.Lock = field(default_factory=threading.Lock)
    value: Any = None
    made_s: float = 0.0
    took_s: float = 0.0
    is_made: bool = False
    is_asked: bool = False  # behind


class KeptFigures:
    """Figures by key; any thread may ask."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, quick_s: float = QUICK_S
    ) -> None:
        self._clock = clock
        self._quick_s = quick_s
        self._figures: dict[Hashable, _Figure] = {}
        self._changing = threading.Lock()
        self._behind: ThreadPoolExecutor | None = None
        self._closed = False

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the figure of a key. make: asks for it, perhaps in another thread."""
        figure = self._figure(key)
        age_s = self._clock() - figure.made_s
        is_slow = figure.is_made and figure.took_s >= self._quick_s
        if is_slow and age_s < OLDEST_S:
            value = cast(T, figure.value)
            if age_s >= figure.took_s * TIMES:
                self._ask_behind(figure, make)
            return value
        if not figure.is_made or is_slow:
            with figure.turn:
                # Who waited for the turn takes what was made meanwhile.
                age_s = self._clock() - figure.made_s
                if not (figure.is_made and figure.took_s >= self._quick_s and age_s < OLDEST_S):
                    return self._make(figure, make)
                return cast(T, figure.value)
        return self._make(figure, make)

    def forget(self, key: Hashable) -> None:
        """Let a figure be asked for anew: what it counts was changed."""
        with self._changing:
            self._figures.pop(key, None)

    def close(self) -> None:
        """Ask no more; what is being asked is waited for."""
        with self._changing:
            self._closed = True
            behind, self._behind = self._behind, None
        if behind is not None:
            behind.shutdown(wait=True, cancel_futures=True)

    def _figure(self, key: Hashable) -> _Figure:
        with self._changing:
            if len(self._figures) >= KEYS_MOST and key not in self._figures:
                self._figures.clear()
            return self._figures.setdefault(key, _Figure())

    def _make(self, figure: _Figure, make: Callable[[], T]) -> T:
        begun_s = self._clock()
        value = make()
        now_s = self._clock()
        figure.value, figure.took_s, figure.made_s = value, now_s - begun_s, now_s
        figure.is_made = True
        return value

    def _ask_behind(self, figure: _Figure, make: Callable[[], T]) -> None:
        with self._changing:
            if figure.is_asked or self._closed:
                return
            if self._behind is None:
                self._behind = ThreadPoolExecutor(1, thread_name_prefix="figures")
            figure.is_asked = True
            self._behind.submit(self._make_behind, figure, make)

    def _make_behind(self, figure: _Figure, make: Callable[[], object]) -> None:
        # Where it fails, who finds it too old asks, and is told why.
        with contextlib.suppress(Exception):
            self._make(figure, make)
        figure.is_asked = False
