"""The partitions of the modules as the runner sees them: where messages wait, and where they go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from agent.pipeline.handler import Handle, Handler
from agent.pipeline.messages import Tick
from agent.runners.mailbox import Mailbox

__all__ = ["Place", "Route", "alone", "breaks_cycle", "drains", "has_room"]


class Place:
    """One partition of a module: its handler, its mailbox, and where its outputs lead.

    gathered: outputs whose receivers get nothing else from here. They get what one batch made at
    once when it is done: nothing can be overtaken by that.
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

    __slots__ = ("choose", "only", "places", "port", "to_all")

    def __init__(
        self, port: str, places: list[Place], choose: Callable[[object], int], to_all: bool
    ) -> None:
        self.port = port
        self.places = places
        self.choose = choose
        self.to_all = to_all
        self.only = places[0] if len(places) == 1 else None


def has_room(place: Place) -> bool:
    """Return whether no receiver behind it is full."""
    return not any(box.full for box in place.receivers)


def alone(routes: Mapping[str, list[Route]]) -> list[str]:
    """Return the outputs whose receivers get nothing by another output."""
    met = Counter(
        place for ways in routes.values() for place in {one for way in ways for one in way.places}
    )
    return [
        output
        for output, ways in routes.items()
        if all(met[place] == 1 for way in ways for place in way.places)
    ]


def drains(place: Place) -> bool:
    """It spills, and who is full behind it spills too: what it takes is less to wait for."""
    return place.mailbox.spills and breaks_cycle(place)


def breaks_cycle(place: Place) -> bool:
    """Return whether all full receivers behind it spill, so that it may exceed its room."""
    return not any(box.full and not box.spills for box in place.receivers)
