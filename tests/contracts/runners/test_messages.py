"""What every runner does with messages, whatever the modules are: order, bounds, no loss."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pytest

from agent.pipeline.partition import Partition
from agent.pipeline.spec import Connection, GraphError, Handler, Key, Module, Output, Pipeline
from agent.runners.in_process import Post
from tests.contracts.runners.conftest import Build


@dataclass(frozen=True)
class Numbered:
    """A message of a host: the n-th from its sender."""

    host: str
    number: int
    sent_again: int = 0


class Sender:
    """Turns each number into as many messages, for the hosts in turn."""

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        for one in batch:
            assert isinstance(one, Numbered)
            yield "out", one
            yield "all", one


class Repeater:
    """Sends each message on, and so many more round the circle once more."""

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        for one in batch:
            assert isinstance(one, Numbered)
            yield "out", one
            if one.sent_again:
                yield "again", Numbered(one.host, one.number, one.sent_again - 1)


class Recorder:
    """Remembers what came, by partition."""

    def __init__(self, seen: list[tuple[str, int, Numbered]], partition: Partition) -> None:
        self._seen = seen
        self._partition = partition

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        for one in batch:
            assert isinstance(one, Numbered)
            self._seen.append((port, self._partition.number, one))
        return ()


PIPELINE = Pipeline(
    (
        Module("sender", Key.SINGLE, ("in",), ("out", "all")),
        Module("repeater", Key.HOST, ("in", "again"), ("out", "again"), spills=True),
        Module("recorder", Key.HOST, ("in", "told")),
    ),
    (
        Connection("sender.out", "repeater.in"),
        Connection("sender.all", "recorder.told", to_all=True),
        Connection("repeater.again", "repeater.again"),
        Connection("repeater.out", "recorder.in"),
    ),
    ("sender.in",),
)


def run(
    build: Build, messages: Iterable[Numbered], seed: int, capacity: int = 4, batch: int = 3
) -> tuple[list[tuple[str, int, Numbered]], dict[str, int]]:
    seen: list[tuple[str, int, Numbered]] = []

    def make(module: str, partition: Partition, post: Post) -> Handler:
        match module:
            case "sender":
                return Sender()
            case "repeater":
                return Repeater()
            case _:
                return Recorder(seen, partition)

    runner = build(
        PIPELINE, make, choose=random.Random(seed).randrange, capacity=capacity, batch=batch
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
        build(PIPELINE, lambda module, partition, post: Sender()).post("repeater.in", None)


class Parting:
    """Sends odd numbers left and even ones right, and all of them to a third place."""

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        for one in batch:
            assert isinstance(one, Numbered)
            yield ("left" if one.number % 2 else "right"), one
            yield "alone", one


PARTING = Pipeline(
    (
        Module("parting", Key.SINGLE, ("in",), ("left", "right", "alone")),
        Module("recorder", Key.SINGLE, ("left", "right")),
        Module("other", Key.SINGLE, ("in",)),
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
        return Parting() if module == "parting" else Recorder(seen[module], partition)

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
        self.told: list[object] = []

    def wants_tick(self, tick: object) -> bool:
        self.asked += 1
        return self.asked % 2 == 0

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        self.told += batch
        return ()


def test_a_module_is_told_only_the_ticks_that_it_wants(build: Build) -> None:
    """Who waits for nothing costs nothing at each turn."""
    sleepy = Sleepy()
    pipeline = Pipeline((Module("sleepy", Key.SINGLE, ("tick",)),), (), ("sleepy.tick",))
    runner = build(pipeline, lambda module, partition, post: sleepy)
    for number in range(6):
        runner.tick(number)
    assert sleepy.told == [1, 3, 5]
