"""A fair queue: senders take turns by their cost, so that one with many bodies blocks no other.

Each sender has a tag, in seconds of service: how much it had, compared with the others. The item of
the sender with the lowest tag comes next. A returning sender begins at the tag that is being
served, so that no sender saves up turns. Invariant: tags are kept only of senders that wait or are
ahead of others. Source: P. Goyal, H. Vin, H. Cheng, Start-time Fair Queuing, SIGCOMM 1996.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Hashable
from typing import Any, Final, Generic, TypeVar

__all__ = ["TurnQueue"]

LEAST_S: Final = 0.001
"""What an item costs before it is known: senders of items that cost nothing take turns, too."""

_Item = TypeVar("_Item")


class TurnQueue(Generic[_Item]):
    """Items by sender. Of one sender the oldest comes first."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[_Item]] = {}
        self._tags: dict[Hashable, float] = {}
        self._served = 0.0  # the tag of the sender served last

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def push(self, sender: Hashable, item: _Item) -> None:
        """Add an item behind those of its sender."""
        if sender not in self._waiting:
            self._waiting[sender] = deque()
            self._tags[sender] = max(self._served, self._tags.get(sender, 0.0))
        self._waiting[sender].append(item)

    def pop(self, busy: Container[Any] = ()) -> _Item | None:
        """Remove and return the item whose turn it is; None: no sender but busy ones waits."""
        able = [sender for sender in self._waiting if sender not in busy]
        if not able:
            return None
        sender = min(able, key=self._tags.__getitem__)  # of equals the one that waits longest
        self._served = max(self._served, self._tags[sender])
        items = self._waiting.pop(sender)
        item = items.popleft()
        self._tags[sender] += LEAST_S
        if items:
            self._waiting[sender] = items
        self._forget()
        return item

    def charge(self, sender: Hashable, seconds: float) -> None:
        """Count what an item of a sender cost."""
        self._tags[sender] = max(self._served, self._tags.get(sender, 0.0)) + seconds
        self._forget()

    def remove(self, sender: Hashable, item: _Item) -> bool:
        """Remove an item; return whether it waited."""
        items = self._waiting.get(sender)
        if items is None or item not in items:
            return False
        items.remove(item)
        if not items:
            del self._waiting[sender]
        return True

    def clear(self) -> list[_Item]:
        """Remove and return all items."""
        items = [item for each in self._waiting.values() for item in each]
        self._waiting.clear()
        return items

    def _forget(self) -> None:
        """Forget tags that say nothing: those of who would begin where the others are."""
        if not self._waiting:
            # The queue is empty: all senders begin again.
            self._served = max(self._tags.values(), default=self._served)
        over = [
            sender
            for sender, tag in self._tags.items()
            if tag <= self._served and sender not in self._waiting
        ]
        for sender in over:
            del self._tags[sender]
