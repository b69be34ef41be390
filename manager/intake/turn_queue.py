"""A queue whose senders take turns: who has sixteen bodies waits behind who has one."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Container
from typing import Generic, TypeVar

__all__ = ["TurnQueue"]

_Item = TypeVar("_Item")


class TurnQueue(Generic[_Item]):
    """Items by sender. Of one sender the oldest comes first; among senders it is round robin."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, deque[_Item]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def push(self, sender: int, item: _Item) -> None:
        """Add an item behind those of its sender."""
        self._waiting.setdefault(sender, deque()).append(item)

    def pop(self, busy: Container[int] = ()) -> _Item | None:
        """Remove and return the item whose turn it is; None: no sender but busy ones waits."""
        for sender in self._waiting:
            if sender not in busy:
                break
        else:
            return None
        items = self._waiting.pop(sender)
        item = items.popleft()
        if items:
            self._waiting[sender] = items  # behind the other senders
        return item

    def remove(self, sender: int, item: _Item) -> bool:
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
