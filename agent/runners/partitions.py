"""Partitions of modules in a runner, with their mailboxes, and the routes between them.

Invariant: messages with one key always meet the same partition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from agent.pipeline.handler import Handle, Handler
from agent.pipeline.messages.requests import Tick
from agent.pipeline.partition import partition_of
from agent.pipeline.spec import Key
from agent.runners.mailbox import Mailbox

__all__ = ["ModulePartition", "Route", "alone", "breaks_cycle", "chooser", "drains", "has_room"]


class ModulePartition:
    """One partition of a module: its handler, its mailbox, and the routes of its outputs.

    gathered: outputs whose receivers get nothing else from here. They get all messages of a batch
    at once, when it is done: nothing can be overtaken by that.
    """

    __slots__ = ("gathered", "handler", "mailbox", "methods", "receivers", "routes", "wants")

    def __init__(self, handler: Handler, methods: dict[str, Handle], mailbox: Mailbox) -> None:
        self.handler = handler
        self.methods = methods
        self.wants: Callable[[Tick], bool] | None = getattr(handler, "wants_tick", None)
        self.mailbox = mailbox
        self.routes: dict[str, list[Route]] = {}
        self.gathered: frozenset[str] = frozenset()
        self.receivers: list[Mailbox] = []


class Route:
    """From an output to the partitions behind one connection."""

    __slots__ = ("choose", "only", "partitions", "port", "to_all")

    def __init__(
        self,
        port: str,
        partitions: list[ModulePartition],
        choose: Callable[[object], int],
        to_all: bool,
    ) -> None:
        self.port = port
        self.partitions = partitions
        self.choose = choose
        self.to_all = to_all
        self.only = partitions[0] if len(partitions) == 1 else None


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


def has_room(partition: ModulePartition) -> bool:
    """Return whether no receiver behind it is full."""
    return not any(box.full for box in partition.receivers)


def alone(routes: Mapping[str, list[Route]]) -> list[str]:
    """Return the outputs whose receivers get nothing by another output."""
    met = Counter(
        partition
        for ways in routes.values()
        for partition in {one for way in ways for one in way.partitions}
    )
    return [
        output
        for output, ways in routes.items()
        if all(met[partition] == 1 for way in ways for partition in way.partitions)
    ]


def drains(partition: ModulePartition) -> bool:
    """Return whether it spills, as do all full receivers behind it: running it makes room."""
    return partition.mailbox.spills and breaks_cycle(partition)


def breaks_cycle(partition: ModulePartition) -> bool:
    """Return whether all full receivers behind it spill, so that it may exceed its room."""
    return not any(box.full and not box.spills for box in partition.receivers)
