"""From a message to the partition of its receiver.

Invariant: messages with one key always meet the same partition.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.pipeline.partition import partition_of
from agent.pipeline.spec import Key

__all__ = ["chooser"]


def chooser(key: Key, count: int) -> Callable[[object], int]:
    """Return the function from a message to its partition's number.

    A message without the attribute that the module is keyed by raises AttributeError: the
    pipeline connects what does not fit.
    """
    if count == 1 or key is Key.SINGLE:
        return lambda message: 0
    if key is Key.FREE:
        turn = -1

        def next_one(message: object) -> int:
            """Return the next partition in turn."""
            nonlocal turn
            turn = (turn + 1) % count
            return turn

        return next_one
    attribute = key.value
    return lambda message: partition_of(getattr(message, attribute), count)
