"""Mailbox of one partition of a module: one queue for all its inputs.

Invariant: messages leave in the order in which they came, across inputs too. So two messages of
one sender never overtake each other (a change of the list and the links that follow from it).
"""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["NO_PORT", "Mailbox"]

NO_PORT: Final = ""
"""Of a mailbox in which nothing grows."""


class Mailbox:
    """A bounded line of messages. The bound is the sender's to obey: see `full`.

    They lie in batches, each for one input. growing: the last of them, for the input `port`;
    before: how many lie before it.
    """

    __slots__ = ("_line", "before", "capacity", "growing", "listed", "most", "port", "spills")

    def __init__(self, capacity: int, spills: bool) -> None:
        self._line: deque[tuple[str, list[object]]] = deque()  # without the one that grows
        self.before = 0  # messages in it
        self.growing: list[object] = []
        self.port = NO_PORT  # while nothing grows
        self.capacity = capacity
        self.spills = spills
        self.listed = False  # among those that wait for their turn
        self.most = 0  # as far as anybody looked: it only grows between two takes

    def __len__(self) -> int:
        return self.before + len(self.growing)

    @property
    def full(self) -> bool:
        """Return whether whoever sends here should wait."""
        return self.before + len(self.growing) >= self.capacity

    @property
    def greatest(self) -> int:
        """Return the greatest length so far."""
        return max(self.most, len(self))

    def put(self, port: str, message: object) -> None:
        """Append a message for an input."""
        if port == self.port:
            self.growing.append(message)
            return
        if self.growing:
            self._line.append((self.port, self.growing))
            self.before += len(self.growing)
        self.port, self.growing = port, [message]

    def put_all(self, port: str, messages: list[object]) -> None:
        """Append messages for an input."""
        if port == self.port:
            self.growing += messages
            return
        if self.growing:
            self._line.append((self.port, self.growing))
            self.before += len(self.growing)
        self.port, self.growing = port, messages.copy()

    def take(self, limit: int) -> tuple[str, list[object]]:
        """Return the next messages that are for one input, at most `limit`, and that input."""
        size = self.before + len(self.growing)
        if size > self.most:
            self.most = size
        if self.before:
            port, batch = self._line.popleft()
            self.before -= len(batch)
        else:
            port, batch = self.port, self.growing
            # Messages from now on are not of this batch: its receiver goes through it.
            self.port, self.growing = NO_PORT, []
            if size <= limit:
                return port, batch
        if len(batch) > limit:
            batch, rest = batch[:limit], batch[limit:]
            if self.port == NO_PORT:
                self.port, self.growing = port, rest
            else:
                self._line.appendleft((port, rest))
                self.before += len(rest)
        return port, batch
