"""Runs all partitions of a pipeline in this process, one batch at a time.

A module whose receivers are full is not run: that bounds every mailbox to its capacity and what
one batch makes of itself. If everything that could run has a full receiver, those are run whose
full receivers all spill to disk, and of them first those that spill themselves; `validate` made
sure that this breaks every cycle.

What comes from outside (a completion, a new list) waits in the inbox until everything inside is
settled. So whatever follows from one tick or one completion is over before the next one begins,
and a decision such as "this job is finished" cannot be overtaken by a page that came meanwhile.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from agent.pipeline.partition import Partition
from agent.pipeline.spec import GraphError, Handler, Pipeline
from agent.runners.mailbox import Mailbox
from agent.runners.partition import chooser

__all__ = ["BATCH", "CAPACITY", "InProcessRunner", "Make", "Post"]

BATCH: Final = 256
CAPACITY: Final = 1024
PORTION: Final = 64  # messages from outside that are let in together

Post = Callable[[str, object], None]
Make = Callable[[str, Partition, Post], Handler]
"""Builds the handler of a module's partition: (module, partition, where completions go)."""


class _Place:
    """One partition of a module: its handler, its mailbox, and where its outputs lead.

    gathered: outputs whose receivers get nothing else from here. They get what one batch made at
    once when it is done: nothing can be overtaken by that.
    """

    __slots__ = ("gathered", "handler", "mailbox", "module", "receivers", "routes", "wants")

    def __init__(self, module: str, handler: Handler, mailbox: Mailbox) -> None:
        self.module = module
        self.handler = handler
        self.wants: Callable[[object], bool] | None = getattr(handler, "wants_tick", None)
        self.mailbox = mailbox
        self.routes: dict[str, list[_Route]] = {}
        self.gathered: frozenset[str] = frozenset()
        self.receivers: list[Mailbox] = []


class _Route:
    """From an output to the partitions behind one connection."""

    __slots__ = ("choose", "only", "places", "port", "to_all")

    def __init__(
        self, port: str, places: list[_Place], choose: Callable[[object], int], to_all: bool
    ) -> None:
        self.port = port
        self.places = places
        self.choose = choose
        self.to_all = to_all
        self.only = places[0] if len(places) == 1 else None


class InProcessRunner:
    """The default runner, and with several partitions of a module the one that tests them."""

    def __init__(
        self,
        pipeline: Pipeline,
        make: Make,
        *,
        partitions: Mapping[str, int] | None = None,
        capacity: int = CAPACITY,
        batch: int = BATCH,
        choose: Callable[[int], int] | None = None,
    ) -> None:
        """Build every handler.

        partitions: how many of each module, 1 where it is not named. choose: which of n waiting
        places has its turn, for tests that try every order; None: the one that waits longest.
        """
        self._pipeline = pipeline
        self._batch = batch
        self._choose = choose
        self._inbox: deque[tuple[_Route, object]] = deque()
        self._waiting: deque[_Place] = deque()
        self._crowded = False  # whether a mailbox may be full
        self._on_post: Callable[[], None] | None = None
        self.handled = 0  # messages, the time not counted: whether anything happened
        counts = partitions or {}
        self._places: dict[str, list[_Place]] = {}
        self._choosers: dict[str, Callable[[object], int]] = {}
        for module in pipeline.modules:
            count = counts.get(module.name, 1)
            self._choosers[module.name] = chooser(module.key, count)
            self._places[module.name] = [
                _Place(
                    module.name,
                    make(module.name, Partition(number, count), self.post),
                    Mailbox(capacity, module.spills),
                )
                for number in range(count)
            ]
        self._outside = {name: self._route_to(name, to_all=False) for name in pipeline.outside}
        clocks = [self._outside[name] for name in pipeline.outside if name.endswith(".tick")]
        self._clocks = [
            _Route(route.port, [place], route.choose, to_all=True)
            for route in clocks
            for place in route.places
        ]
        self._connect()

    def handlers(self, module: str) -> list[Handler]:
        """Return the handlers of a module, by partition."""
        return [place.handler for place in self._places[module]]

    def on_post(self, wake: Callable[[], None]) -> None:
        """Have a function called when something came from outside, and nothing waited there."""
        self._on_post = wake

    def post(self, target: str, message: object) -> None:
        """Leave a message from outside for an input; it is handled in the next round."""
        route = self._outside.get(target)
        if route is None:
            raise GraphError(f"{target} is not fed from outside: {sorted(self._outside)} are")
        inbox = self._inbox
        inbox.append((route, message))
        if len(inbox) == 1 and self._on_post is not None:
            self._on_post()

    @property
    def idle(self) -> bool:
        """Tell whether nothing came from outside since everything was settled."""
        return not self._inbox

    def settle(self, most: int | None = None) -> None:
        """Let in what is in the inbox now, or so many messages of it; run until nothing moves."""
        inbox = self._inbox
        for _ in range(len(inbox) if most is None else min(most, len(inbox))):
            route, message = inbox.popleft()
            if self._crowded:
                for place in route.places:
                    while place.mailbox.full:
                        self._step()
            if route.only is None:
                self._send(route, message)
            else:
                self._send_all(route, [message])
        while self._waiting:
            self._step()

    def run_until_settled(self, enough: Callable[[], bool] = lambda: False) -> None:
        """Settle until the inbox is empty too: completions that come at once are followed.

        enough: asked between portions of the inbox; what is left then waits for the next call.
        """
        self.settle(PORTION)
        while self._inbox and not enough():
            self.settle(PORTION)

    def tick(self, message: object) -> None:
        """Tell every module that wants it the time, and settle what follows from that alone."""
        for route in self._clocks:
            place = route.places[0]
            if place.wants is None or place.wants(message):
                self._send(route, message)
        while self._waiting:
            self._step()

    def greatest_mailboxes(self) -> dict[str, int]:
        """Return the greatest length that a mailbox of each module has had."""
        return {
            name: max(place.mailbox.greatest for place in places)
            for name, places in self._places.items()
        }

    def _connect(self) -> None:
        for connection in self._pipeline.connections:
            module, _, port = connection.source.partition(".")
            route = self._route_to(connection.target, connection.to_all)
            for place in self._places[module]:
                place.routes.setdefault(port, []).append(route)
                place.receivers.extend(other.mailbox for other in route.places)
        for places in self._places.values():
            for place in places:
                own = place.mailbox
                place.receivers = [box for box in set(place.receivers) if box is not own]
                place.gathered = frozenset(_alone(place.routes))

    def _route_to(self, target: str, to_all: bool) -> _Route:
        module, _, port = target.partition(".")
        return _Route(port, self._places[module], self._choosers[module], to_all)

    def _send(self, route: _Route, message: object) -> None:
        if route.to_all or route.only is not None:
            places: Sequence[_Place] = route.places
        else:
            places = (route.places[route.choose(message)],)
        for place in places:
            box = place.mailbox
            box.put(route.port, message)
            if box.before + len(box.growing) >= box.capacity:
                self._crowded = True
            if not box.listed:
                box.listed = True
                self._waiting.append(place)

    def _step(self) -> None:
        place = self._next() if self._crowded or self._choose else self._waiting.popleft()
        box = place.mailbox
        if box.before or len(box.growing) > self._batch:
            port, batch = box.take(self._batch)
            if box:
                self._waiting.append(place)
            else:
                box.listed = False
        else:  # nearly always
            port, batch = box.take_all()
            box.listed = False
        if port != "tick":
            self.handled += len(batch)
        routes, gathered = place.routes, place.gathered
        made: dict[str, list[object]] = {}
        for output, message in place.handler.handle(port, batch):
            if output in made:
                made[output].append(message)
            elif output in gathered:
                made[output] = [message]
            else:
                for route in routes[output]:
                    self._send(route, message)
        for output, messages in made.items():
            for route in routes[output]:
                self._send_all(route, messages)

    def _send_all(self, route: _Route, messages: list[object]) -> None:
        only = route.only
        if only is None:
            for message in messages:
                self._send(route, message)
            return
        box = only.mailbox
        if box.port == route.port:
            box.growing += messages
        elif box.growing:
            box.put_all(route.port, messages)
        else:
            box.port, box.growing = route.port, messages.copy()
        if box.before + len(box.growing) >= box.capacity:
            self._crowded = True
        if not box.listed:
            box.listed = True
            self._waiting.append(only)

    def _next(self) -> _Place:
        waiting = self._waiting
        if self._choose is not None:
            waiting.rotate(-self._choose(len(waiting)))
        if not self._crowded:
            return waiting.popleft()
        self._crowded = any(
            place.mailbox.full for places in self._places.values() for place in places
        )
        for may_run in (_has_room, _drains, _breaks_cycle):
            for _ in range(len(waiting)):
                place = waiting.popleft()
                if may_run(place):
                    return place
                waiting.append(place)
        raise GraphError("every module has a full receiver that does not spill: no validate()?")


def _has_room(place: _Place) -> bool:
    """Nobody behind it is full."""
    return not any(box.full for box in place.receivers)


def _alone(routes: Mapping[str, list[_Route]]) -> list[str]:
    """Return the outputs whose receivers get nothing by another output."""
    met = Counter(
        place for ways in routes.values() for place in {one for way in ways for one in way.places}
    )
    return [
        output
        for output, ways in routes.items()
        if all(met[place] == 1 for way in ways for place in way.places)
    ]


def _drains(place: _Place) -> bool:
    """It spills, and who is full behind it spills too: what it takes is less to wait for."""
    return place.mailbox.spills and _breaks_cycle(place)


def _breaks_cycle(place: _Place) -> bool:
    """Who is full behind it spills, and can take more although it is full."""
    return not any(box.full and not box.spills for box in place.receivers)
