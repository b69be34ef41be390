"""Cache of figures over millions of rows, for pages and scripts: queries run only so often.

A figure that takes less than `QUICK_S` is queried each time, so that a small system always shows
current figures. A slower one is kept for `TIMES` as long as it took, and then shown once more
while it is queried again in the background. A page (`page_figures`) shows it however old it is,
with its age; if there is none yet, the page waits for a moment and then says that it is being
counted.
Other callers, such as scripts, get nothing older than `OLDEST_S`, and wait.
Invariant: decisions never read a cached figure; it may be minutes old. However many callers ask at
once, one of them makes the query.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

__all__ = ["FigureCache", "FigureRequest", "StillCountingError", "page_figures"]

QUICK_S: Final = 0.05
TIMES: Final = 20.0
OLDEST_S: Final = 300.0
KEYS_MOST: Final = 100
ASKED_AT_ONCE: Final = 2

T = TypeVar("T")


class StillCountingError(Exception):
    """A figure is being counted for the first time, and is not there yet."""


@dataclass
class FigureRequest:
    """A request for figures. wait_s: the longest wait for a missing one; None: for ever.

    oldest_s: how old the oldest figure is that was shown.
    """

    wait_s: float | None
    oldest_s: float = 0.0


_request: Final[ContextVar[FigureRequest | None]] = ContextVar("request", default=None)


@contextmanager
def page_figures(wait_s: float | None) -> Iterator[FigureRequest]:
    """Mark queries within the block as asked for a person."""
    request = FigureRequest(wait_s)
    before = _request.set(request)
    try:
        yield request
    finally:
        _request.reset(before)


@dataclass
class _Figure:
    turn: threading.Lock = field(default_factory=threading.Lock)
    value: Any = None
    made_s: float = 0.0
    took_s: float = 0.0
    is_made: bool = False
    behind: Future[Any] | None = None

    @property
    def is_asked(self) -> bool:
        """Return whether a query for it runs now."""
        return self.turn.locked() or (self.behind is not None and not self.behind.done())


class FigureCache:
    """Figures by key; any thread may ask."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, quick_s: float = QUICK_S
    ) -> None:
        self._clock = clock
        self._quick_s = quick_s
        self._figures: dict[Hashable, _Figure] = {}
        self._changing = threading.Lock()
        self._askers: ThreadPoolExecutor | None = None
        self._closed = False

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the figure of a key. make: asks for it, perhaps in another thread.

        Raises StillCountingError to who looks, where there is none yet.
        """
        figure, request = self._figure(key), _request.get()
        if not figure.is_made and request is not None and request.wait_s is not None:
            return self._first(figure, make, request.wait_s)
        if figure.is_made and figure.took_s < self._quick_s:
            return self._make(figure, make)
        if not self._may_be_shown(figure, request):
            with figure.turn:
                # A caller that waited for the turn takes the figure made meanwhile.
                if not self._may_be_shown(figure, request):
                    return self._make(figure, make)
        age_s = self._clock() - figure.made_s
        if request is not None:
            request.oldest_s = max(request.oldest_s, age_s)
        value = cast(T, figure.value)
        if age_s >= figure.took_s * TIMES:
            self._ask_behind(figure, make)
        return value

    def _may_be_shown(self, figure: _Figure, request: FigureRequest | None) -> bool:
        if not (figure.is_made and figure.took_s >= self._quick_s):
            return False
        return request is not None or self._clock() - figure.made_s < OLDEST_S

    def forget(self, key: Hashable) -> None:
        """Expire a figure: what it counts was changed."""
        with self._changing:
            self._figures.pop(key, None)

    def close(self) -> None:
        """Ask no more; what is being asked is waited for."""
        with self._changing:
            self._closed = True
            askers, self._askers = self._askers, None
        if askers is not None:
            askers.shutdown(wait=True, cancel_futures=True)

    def _figure(self, key: Hashable) -> _Figure:
        with self._changing:
            if len(self._figures) >= KEYS_MOST and key not in self._figures:
                # What failed took nothing, what took least is the least loss.
                idle = [old for old, figure in self._figures.items() if not figure.is_asked]
                for old in sorted(idle, key=lambda one: self._figures[one].took_s)[:1]:
                    del self._figures[old]
            return self._figures.setdefault(key, _Figure())

    def _make(self, figure: _Figure, make: Callable[[], T]) -> T:
        begun_s = self._clock()
        value = make()
        now_s = self._clock()
        figure.value, figure.took_s, figure.made_s = value, now_s - begun_s, now_s
        figure.is_made = True
        return value

    def _first(self, figure: _Figure, make: Callable[[], T], wait_s: float) -> T:
        """Wait a while for the query in the background; raise its failure if no caller saw it."""
        behind = figure.behind
        if behind is None:
            behind = self._ask_behind(figure, make)
        if behind is None:
            return self._make(figure, make)
        try:
            value = behind.result(wait_s)
        except TimeoutError as error:
            if behind.done():
                figure.behind = None
                raise
            raise StillCountingError from error
        except Exception:
            figure.behind = None
            raise
        return cast(T, value)

    def _ask_behind(self, figure: _Figure, make: Callable[[], T]) -> Future[T] | None:
        """Hand the query to another thread; None: all is closed."""
        with self._changing:
            if figure.behind is not None and not figure.behind.done():
                return figure.behind
            if self._closed:
                return None
            if self._askers is None:
                self._askers = ThreadPoolExecutor(ASKED_AT_ONCE, thread_name_prefix="figures")
            # Where it fails while an old one is shown, it is asked again at the next request.
            figure.behind = self._askers.submit(self._make, figure, make)
            return figure.behind
