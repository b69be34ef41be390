"""What waits for one partition of a module: one line for all its inputs.

Invariant: messages leave in the order in which they came, across inputs too. So two messages of
one sender never overtake each other (a change of the list and the links that follow from it).
"""

from __future__ import annotations

from collections import deque

__all__ = ["Mailbox"]


class Mailbox:
    """A bounded line of messages. The bound is the sender's to obey: see `full`.

    line: (input, message), oldest first; senders append to it.
    """

    __slots__ = ("_greatest", "capacity", "line", "listed", "spills")

    def __init__(self, capacity: int, spills: bool) -> None:
        self.line: deque[tuple[str, object]] = deque()
        self.capacity = capacity
        self.spills = spills
        self.listed = False  # among those that wait for their turn
        self._greatest = 0

    def __len__(self) -> int:
        return len(self.line)

    @property
    def full(self) -> bool:
        """Tell whether whoever sends here should wait."""
        return len(self.line) >= self.capacity

    @property
    def greatest(self) -> int:
        """Return the greatest length so far."""
        return max(self._greatest, len(self.line))

    def take(self, limit: int) -> tuple[str, list[object]]:
        """Return the next messages that are for one input, at most `limit`, and that input."""
        line = self.line
        if len(line) > self._greatest:  # it only grows between two takes
            self._greatest = len(line)
        port, first = line.popleft()
        batch = [first]
        while line and line[0][0] == port and len(batch) < limit:
            batch.append(line.popleft()[1])
        return port, batch
