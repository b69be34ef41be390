"""Runs all partitions of a pipeline in this process, one batch at a time.

A module whose receivers are full is not run: that bounds every mailbox to its capacity and what
one batch makes of itself. If everything that could run has a full receiver, those are run whose
full receivers all spill to disk, and of them first those that spill themselves; `validate` made
sure that this breaks every cycle.

An event from outside (a completion, a new list) waits in the inbox until everything inside is
settled. So whatever follows from one tick or one completion is over before the next one begins,
and a decision such as "this job is finished" cannot be overtaken by a page that came meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from agent.pipeline.handler import Handler, Output, input_methods
from agent.pipeline.messages.requests import Tick
from agent.pipeline.partition import Partition
from agent.pipeline.spec import GraphError, Pipeline
from agent.runners.mailbox import NO_PORT, Mailbox
from agent.runners.partitions import (
    ModulePartition,
    Route,
    alone,
    breaks_cycle,
    chooser,
    drains,
    has_room,
)

__all__ = ["BATCH", "CAPACITY", "InProcessRunner", "Make", "Post"]

BATCH: Final = 256
CAPACITY: Final = 1024
PORTION: Final = 64  # messages from outside that are let in together
FEW: Final = 3  # messages of a batch, up to which what it makes is not gathered

Post = Callable[[str, object], None]
Make = Callable[[str, Partition, Post], Handler]
"""Builds the handler of a module's partition: (module, partition, where completions go)."""


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
        """Build every handler. Raises GraphError for one whose inputs are not its module's.

        partitions: how many of each module, 1 where it is not named. choose: which of n waiting
        partitions has its turn, for tests that try every order; None: the one that waits longest.
        """
        self._pipeline = pipeline
        self._batch = batch
        self._choose = choose
        self._inbox: deque[tuple[Route, object]] = deque()
        self._waiting: deque[ModulePartition] = deque()
        self._crowded = False  # whether a mailbox may be full
        self._on_post: Callable[[], None] | None = None
        self.handled = 0  # messages, the time not counted: whether anything happened
        counts = partitions or {}
        self._partitions: dict[str, list[ModulePartition]] = {}
        self._choosers: dict[str, Callable[[object], int]] = {}
        for module in pipeline.modules:
            count = counts.get(module.name, 1)
            self._choosers[module.name] = chooser(module.key, count)
            handlers = [
                make(module.name, Partition(number, count), self.post) for number in range(count)
            ]
            self._partitions[module.name] = [
                ModulePartition(one, input_methods(module, one), Mailbox(capacity, module.spills))
                for one in handlers
            ]
        self._outside = {name: self._route_to(name, to_all=False) for name in pipeline.outside}
        clocks = [self._outside[name] for name in pipeline.outside if name.endswith(".tick")]
        self._clocks = [
            Route(route.port, [partition], route.choose, to_all=True)
            for route in clocks
            for partition in route.partitions
        ]
        self._connect()

    def handlers(self, module: str) -> list[Handler]:
        """Return the handlers of a module, by partition."""
        return [partition.handler for partition in self._partitions[module]]

    def on_post(self, wake: Callable[[], None]) -> None:
        """Set a function that is called when a message arrives in an empty inbox."""
        self._on_post = wake

    def post(self, target: str, message: object) -> None:
        """Leave a message from outside for an input; it is handled in the next round."""
        route = self._outside.get(target)
        if route is None:
            raise GraphError(
                "agent_errors.graph_outside", port=target, outside=sorted(self._outside)
            )
        inbox = self._inbox
        inbox.append((route, message))
        if len(inbox) == 1 and self._on_post is not None:
            self._on_post()

    @property
    def idle(self) -> bool:
        """Return whether nothing came from outside since everything was settled."""
        return not self._inbox

    def settle(self, most: int | None = None) -> None:
        """Process the messages in the inbox, at most so many; run until nothing moves."""
        inbox = self._inbox
        for _ in range(len(inbox) if most is None else min(most, len(inbox))):
            route, message = inbox.popleft()
            if self._crowded:
                for partition in route.partitions:
                    while partition.mailbox.full:
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

    def tick(self, message: Tick) -> None:
        """Send the time to every module that wants it, and process what follows."""
        for route in self._clocks:
            partition = route.partitions[0]
            if partition.wants is None or partition.wants(message):
                self._send(route, message)
        while self._waiting:
            self._step()

    def greatest_mailboxes(self) -> dict[str, int]:
        """Return the greatest length that a mailbox of each module has had."""
        return {
            name: max(partition.mailbox.greatest for partition in partitions)
            for name, partitions in self._partitions.items()
        }

    def _connect(self) -> None:
        for connection in self._pipeline.connections:
            module, _, port = connection.source.partition(".")
            route = self._route_to(connection.target, connection.to_all)
            for partition in self._partitions[module]:
                partition.routes.setdefault(port, []).append(route)
                partition.receivers.extend(other.mailbox for other in route.partitions)
        for partition in chain.from_iterable(self._partitions.values()):
            own = partition.mailbox
            partition.receivers = [box for box in set(partition.receivers) if box is not own]
            partition.gathered = frozenset(alone(partition.routes))

    def _route_to(self, target: str, to_all: bool) -> Route:
        module, _, port = target.partition(".")
        return Route(port, self._partitions[module], self._choosers[module], to_all)

    def _send(self, route: Route, message: object) -> None:
        if route.to_all or route.only is not None:
            partitions: Sequence[ModulePartition] = route.partitions
        else:
            partitions = (route.partitions[route.choose(message)],)
        for partition in partitions:
            box = partition.mailbox
            box.put(route.port, message)
            if box.before + len(box.growing) >= box.capacity:
                self._crowded = True
            if not box.listed:
                box.listed = True
                self._waiting.append(partition)

    def _step(self) -> None:
        partition = self._next() if self._crowded or self._choose else self._waiting.popleft()
        box = partition.mailbox
        port, batch = box.port, box.growing
        size = len(batch)
        if box.before or size > self._batch:
            port, batch = box.take(self._batch)
            size = len(batch)
            if box:
                self._waiting.append(partition)
            else:
                box.listed = False
        else:  # nearly always: all of it, without a call for it
            if size > box.most:
                box.most = size
            box.port, box.growing, box.listed = NO_PORT, [], False
        if port != "tick":
            self.handled += size
        made = partition.methods[port](batch)
        if not made:
            return
        if size <= FEW:
            self._send_each(partition.routes, made)
        else:
            self._send_gathered(partition, made)

    def _send_each(self, routes: dict[str, list[Route]], made: Iterable[Output]) -> None:
        """Send what a batch made, one by one: of few messages that costs less than gathering."""
        for output, message in made:
            for route in routes[output]:
                only = route.only
                if only is None:
                    self._send(route, message)
                    continue
                box = only.mailbox
                if box.listed:
                    box.put(route.port, message)
                    if box.before + len(box.growing) >= box.capacity:
                        self._crowded = True
                else:  # nearly always: it is empty
                    box.port, box.listed = route.port, True
                    box.growing.append(message)
                    self._waiting.append(only)
                    if box.capacity == 1:
                        self._crowded = True

    def _send_gathered(self, partition: ModulePartition, made: Iterable[Output]) -> None:
        routes, gathered = partition.routes, partition.gathered
        together: dict[str, list[object]] = {}
        for output, message in made:
            if output in together:
                together[output].append(message)
            elif output in gathered:
                together[output] = [message]
            else:
                for route in routes[output]:
                    self._send(route, message)
        for output, messages in together.items():
            for route in routes[output]:
                self._send_all(route, messages)

    def _send_all(self, route: Route, messages: list[object]) -> None:
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

    def _next(self) -> ModulePartition:
        waiting = self._waiting
        if self._choose is not None:
            waiting.rotate(-self._choose(len(waiting)))
        if not self._crowded:
            return waiting.popleft()
        everyone = chain.from_iterable(self._partitions.values())
        self._crowded = any(partition.mailbox.full for partition in everyone)
        for may_run in (has_room, drains, breaks_cycle):
            for _ in range(len(waiting)):
                partition = waiting.popleft()
                if may_run(partition):
                    return partition
                waiting.append(partition)
        raise GraphError("agent_errors.graph_full")
