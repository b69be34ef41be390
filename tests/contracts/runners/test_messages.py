"""What every runner does with messages, whatever the modules are: order, bounds, no loss."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import pytest

from agent.pipeline.handler import Handler, Input, Inputs, Output
from agent.pipeline.messages.requests import Tick
from agent.pipeline.partition import Partition
from agent.pipeline.spec import Connection, GraphError, Key, Module, Pipeline
from agent.runners.in_process import Make, Post
from tests.contracts.runners.conftest import Build


@dataclass(frozen=True)
class Numbered:
    """A message of a host: the n-th from its sender."""

    host: str
    number: int
    sent_again: int = 0


class Sender:
    """Turns each number into as many messages, for the hosts in turn."""

    def inputs(self) -> Inputs:
        return {"in": Input(Numbered, self.handle_in)}

    def handle_in(self, batch: Sequence[Numbered]) -> Iterable[Output]:
        for one in batch:
            yield "out", one
            yield "all", one


class Repeater:
    """Sends each message on, and so many more round the circle once more."""

    def inputs(self) -> Inputs:
        return {"in": Input(Numbered, self.handle_in), "again": Input(Numbered, self.handle_in)}

    def handle_in(self, batch: Sequence[Numbered]) -> Iterable[Output]:
        for one in batch:
            yield "out", one
            if one.sent_again:
                yield "again", Numbered(one.host, one.number, one.sent_again - 1)


class Recorder:
    """Remembers what came, by partition."""

    def __init__(
        self, seen: list[tuple[str, int, Numbered]], partition: Partition, *ports: str
    ) -> None:
        self._seen = seen
        self._partition = partition
        self._ports = ports

    def inputs(self) -> Inputs:
        return {port: Input(Numbered, partial(self.record, port)) for port in self._ports}

    def record(self, port: str, batch: Sequence[Numbered]) -> Iterable[Output]:
        self._seen.extend((port, self._partition.number, one) for one in batch)
        return ()


def numbers(*ports: str) -> dict[str, type]:
    return dict.fromkeys(ports, Numbered)


PIPELINE = Pipeline(
    (
        Module("sender", Key.SINGLE, numbers("in"), numbers("out", "all")),
        Module("repeater", Key.HOST, numbers("in", "again"), numbers("out", "again"), spills=True),
        Module("recorder", Key.HOST, numbers("in", "told")),
    ),
    (
        Connection("sender.out", "repeater.in"),
        Connection("sender.all", "recorder.told", to_all=True),
        Connection("repeater.again", "repeater.again"),
        Connection("repeater.out", "recorder.in"),
    ),
    ("sender.in",),
)


def maker(seen: list[tuple[str, int, Numbered]]) -> Make:
    def make(module: str, partition: Partition, post: Post) -> Handler:
        match module:
            case "sender":
                return Sender()
            case "repeater":
                return Repeater()
            case _:
                return Recorder(seen, partition, "in", "told")

    return make


def run(
    build: Build, messages: Iterable[Numbered], seed: int, capacity: int = 4, batch: int = 3
) -> tuple[list[tuple[str, int, Numbered]], dict[str, int]]:
    seen: list[tuple[str, int, Numbered]] = []
    runner = build(
        PIPELINE, maker(seen), choose=random.Random(seed).randrange, capacity=capacity, batch=batch
    )
    for message in messages:
        runner.post("sender.in", message)
    runner.run_until_settled()
    return seen, runner.greatest_mailboxes()


def numbered(count: int, hosts: int = 7, again: int = 0) -> list[Numbered]:
    return [Numbered(f"h{number % hosts}", number, again) for number in range(count)]


@pytest.mark.parametrize("seed", range(10))
def test_order_within_a_key(build: Build, seed: int) -> None:
    """Messages of one host arrive in the order in which they were sent, at one partition."""
    seen, _ = run(build, numbered(200), seed)
    for host in {one.host for _, _, one in seen}:
        arrived = [one.number for port, _, one in seen if port == "in" and one.host == host]
        assert arrived == sorted(arrived)
        assert len({place for port, place, one in seen if port == "in" and one.host == host}) == 1


@pytest.mark.parametrize("seed", range(10))
def test_nothing_is_lost_or_doubled(build: Build, seed: int) -> None:
    """Each message arrives once, those that go round a circle too."""
    seen, _ = run(build, numbered(100, again=3), seed)
    arrived = sorted((one.number, one.sent_again) for port, _, one in seen if port == "in")
    assert arrived == [(number, again) for number in range(100) for again in range(4)]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_for_all_comes_to_all(build: Build, seed: int) -> None:
    """Each partition gets what is sent to all, in order."""
    seen, _ = run(build, numbered(30), seed)
    places = {place for _, place, _ in seen}
    for place in places:
        told = [one.number for port, at, one in seen if port == "told" and at == place]
        assert told == list(range(30))


@pytest.mark.parametrize("seed", range(10))
def test_mailboxes_are_bounded(build: Build, seed: int) -> None:
    """However much is sent, no mailbox holds more than its bound and what one batch becomes."""
    _, greatest = run(build, numbered(3000, again=2), seed, capacity=8, batch=4)
    assert all(length <= 8 + 2 * 4 for length in greatest.values()), greatest


def test_inputs_that_are_not_outside_are_refused(build: Build) -> None:
    """Nobody can feed an input from outside that a module feeds."""
    with pytest.raises(GraphError, match=r"repeater\.in is not fed from outside"):
        build(PIPELINE, maker([])).post("repeater.in", None)


def test_a_handler_of_another_module_is_refused(build: Build) -> None:
    """It would lack a method for a message on its way."""
    with pytest.raises(GraphError, match="repeater: the handler has no method for again"):
        build(PIPELINE, lambda module, partition, post: Sender())


class Parting:
    """Sends odd numbers left and even ones right, and all of them to a third place."""

    def inputs(self) -> Inputs:
        return {"in": Input(Numbered, self.handle_in)}

    def handle_in(self, batch: Sequence[Numbered]) -> Iterable[Output]:
        for one in batch:
            yield ("left" if one.number % 2 else "right"), one
            yield "alone", one


PARTING = Pipeline(
    (
        Module("parting", Key.SINGLE, numbers("in"), numbers("left", "right", "alone")),
        Module("recorder", Key.SINGLE, numbers("left", "right")),
        Module("other", Key.SINGLE, numbers("in")),
    ),
    (
        Connection("parting.left", "recorder.left"),
        Connection("parting.right", "recorder.right"),
        Connection("parting.alone", "other.in"),
    ),
    ("parting.in",),
)


def test_two_outputs_to_one_receiver_keep_their_order(build: Build) -> None:
    """What a sender says by one output is never overtaken by what it says by another."""
    seen: dict[str, list[tuple[str, int, Numbered]]] = {"recorder": [], "other": []}

    def make(module: str, partition: Partition, post: Post) -> Handler:
        if module == "parting":
            return Parting()
        ports = ("left", "right") if module == "recorder" else ("in",)
        return Recorder(seen[module], partition, *ports)

    runner = build(PARTING, make, capacity=8, batch=5)
    for message in numbered(40):
        runner.post("parting.in", message)
    runner.run_until_settled()
    for arrived in seen.values():
        assert [one.number for _, _, one in arrived] == list(range(40))


class Sleepy:
    """Takes ticks, and wants every other one."""

    def __init__(self) -> None:
        self.asked = 0
        self.told: list[float] = []

    def inputs(self) -> Inputs:
        return {"tick": Input(Tick, self.handle_tick)}

    def wants_tick(self, tick: Tick) -> bool:
        self.asked += 1
        return self.asked % 2 == 0

    def handle_tick(self, batch: Sequence[Tick]) -> Iterable[Output]:
        self.told += [tick.now_s for tick in batch]
        return ()


def test_a_module_is_told_only_the_ticks_that_it_wants(build: Build) -> None:
    """Who waits for nothing costs nothing at each turn."""
    sleepy = Sleepy()
    pipeline = Pipeline((Module("sleepy", Key.SINGLE, {"tick": Tick}),), (), ("sleepy.tick",))
    runner = build(pipeline, lambda module, partition, post: sleepy)
    for number in range(6):
        runner.tick(Tick(number, 0, True))
    assert sleepy.told == [1, 3, 5]
