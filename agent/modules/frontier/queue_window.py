"""The part of a job's queues in memory: next URLs of each level, and delayed ones.

Invariant: of each level at most a window is held, and nothing of a level that is not worked on;
all of it, with what is under way, is in the ledger until the page is kept. No level starves: most
turns go to the first level that has anything, and every eighth one looks at another level first.
Source: seed 002 (Mercator chooses among its front queues at random, with a bias).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from agent.pipeline.ledger import LEVEL_BITS, LEVELS, Ledger, QueuedUrl

__all__ = ["Front"]

TURNS_TO_OTHERS: Final = 8

_NONE: Final = 0
_ALL: Final = (1 << LEVELS) - 1
_FROM_THE_FIRST: Final = tuple(range(LEVELS))


class Front:
    """Made when a job has its first turn: most jobs of a long list wait for that."""

    __slots__ = (
        *("_after", "_apart", "_behind", "_due", "_later", "_more", "_windows"),
        *("turn", "under_way"),
    )

    def __init__(
        self,
        turn: int = 0,
        more: int = _ALL,
        after: Iterable[int] = (0,) * LEVELS,
        due: Iterable[tuple[float, int]] = (),
    ) -> None:
        """Begin with nothing in memory, or with what `facts` told."""
        self.turn = turn
        self._due = sorted(due)  # a heap, too
        self._apart = frozenset(position for _, position in self._due)  # in no window
        self.under_way: dict[str, QueuedUrl] = {}
        self._behind = 0  # URLs that were put behind others, here only
        self._windows: list[deque[QueuedUrl] | None] = [None] * LEVELS
        self._after = list(after)  # positions up to which the windows were taken
        self._more = more  # levels that have more behind their windows, perhaps: a bit each
        self._later: list[tuple[float, int, QueuedUrl]] = []  # further attempts

    @property
    def waits(self) -> bool:
        """Return whether a URL waits, or perhaps does."""
        return bool(self._more or self._later or self._due) or any(self._windows)

    @property
    def is_in_use(self) -> bool:
        """Return whether more is known here than the ledger and `facts` say."""
        return bool(self.under_way or self._behind)

    @property
    def later_s(self) -> float:
        """Return when the next further attempt is due; 0: there is none."""
        if self._later and self._due:
            return min(self._later[0][0], self._due[0][0])
        return self._later[0][0] if self._later else self._due[0][0] if self._due else 0.0

    @property
    def facts(self) -> tuple[int, int, tuple[int, ...], tuple[tuple[float, int], ...]]:
        """Return what the ledger does not say: how many turns it had, which levels have more,
        behind which positions, when URLs that wait may be tried, and their positions."""
        more, after = self._more, self._after.copy()
        for level, window in enumerate(self._windows):
            if window:
                more |= 1 << level
                after[level] = window[0].position - 1
        due = (*self._due, *((at_s, position) for at_s, position, _ in self._later))
        return self.turn, more, tuple(after), due

    @property
    def held(self) -> int:
        """Return how many URLs are in memory, those under way not counted."""
        return len(self._later) + sum(len(window) for window in self._windows if window)

    def has_more(self) -> None:
        """Take note that the queues hold something new."""
        self._more = _ALL

    def begin_again(self) -> None:
        """Look for URLs from the beginning of the queues on; nothing may be under way."""
        self._after = [0] * LEVELS
        self._more = _ALL

    def next_url(
        self,
        job: int,
        now_s: float,
        ledger: Ledger,
        window: int,
        due_s: Callable[[QueuedUrl], float],
        at_once: int = 1 << 16,
    ) -> QueuedUrl | None:
        """Take the next URL whose time has come, as `due_s` says; None: there is none now.

        at_once: so many are read from the ledger at a time, and `window` are held at most.
        """
        while self._due and self._due[0][0] <= now_s:
            at_s, position = heapq.heappop(self._due)
            found = ledger.take(job, position - 1, 1, position >> LEVEL_BITS)
            if found and found[0].position == position:
                heapq.heappush(self._later, (at_s, position, found[0]))
        if self._later and self._later[0][0] <= now_s:
            return heapq.heappop(self._later)[2]
        self.turn += 1
        windows = self._windows
        for level in self._levels():
            if not windows[level] and not self._more >> level & 1:
                continue
            while (url := self._from(job, level, ledger, window, at_once)) is not None:
                later_s = due_s(url)
                if later_s <= now_s:
                    if self._more and not any(self._windows):
                        self._look_behind(ledger.queued(job) - 1)
                    return url
                heapq.heappush(self._later, (later_s, url.position, url))
        return None

    def put_back(self, url: QueuedUrl, *, last: bool = False) -> None:
        """Give back a URL that was not fetched: it keeps its place, or is last of those here."""
        window = self._windows[url.level]
        if window is None:
            window = self._windows[url.level] = deque()
        if last:
            window.append(url)
            self._behind += 1
        else:
            window.appendleft(url)

    def postpone(self, url: QueuedUrl, until_s: float) -> None:
        """Give back a URL that may be fetched later."""
        heapq.heappush(self._later, (until_s, url.position, url))

    def _levels(self) -> tuple[int, ...]:
        turn, rest = divmod(self.turn, TURNS_TO_OTHERS)
        if rest:
            return _FROM_THE_FIRST
        first = turn % LEVELS
        return _FROM_THE_FIRST[first:] + _FROM_THE_FIRST[:first]

    def _from(
        self, job: int, level: int, ledger: Ledger, window: int, at_once: int
    ) -> QueuedUrl | None:
        urls = self._windows[level]
        if not urls:
            urls = self._refilled(job, level, ledger, window, at_once)
            if urls is None:
                return None
        url = urls.popleft()
        if not urls:
            self._windows[level] = None
            if not any(self._windows):
                self._behind = 0
        return url

    def _refilled(
        self, job: int, level: int, ledger: Ledger, window: int, at_once: int
    ) -> deque[QueuedUrl] | None:
        # Attempts that wait for their time are in memory too: they count.
        room = min(at_once, window - len(self._later) - len(self._due))
        if room <= 0 or not self._more >> level & 1:
            return None
        taken = ledger.take(job, self._after[level], room, level)
        if len(taken) < room:
            self._more &= ~(1 << level)
        if not taken:
            return None
        self._after[level] = taken[-1].position
        if self._apart:
            taken = [url for url in taken if url.position not in self._apart]
            if not taken:
                return self._refilled(job, level, ledger, window, at_once)
        urls = self._windows[level] = deque(taken)
        return urls

    def _look_behind(self, queued: int) -> None:
        """Find out at once that nothing is left, so that no turn is taken for it."""
        if queued <= len(self._later) + len(self._due) + len(self.under_way):
            self._more = _NONE
