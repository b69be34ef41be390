"""Distances are learned the same, wherever that is done; a child that dies is replaced."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess

import numpy as np
import pytest

from manager.app import child_processes
from manager.app.child_processes import ChildTrainer
from manager.db.engine import Database
from manager.db.measurement import predictions
from manager.distance.prediction import Probes
from manager.distance.training_data import TrainingData, TrainingResult, train
from manager.errors import BusyError
from manager.intake.workers.workers import Limits
from manager.operations.measurement.distance_model import ModelTraining
from tests.manager.operations.measurement.test_distance_model import probed
from tests.manager.operations.rounds.test_rounds import probing
from tests.postgres import database, database_url, postgres_server, sqlite_template

__all__ = ["database", "database_url", "postgres_server", "sqlite_template"]

NO_END_S = 10_000.0


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a child learn whatever it is."""
    monkeypatch.setattr(child_processes, "SMALL_PROBES", 0)


def training_data_of(agents: int, units: int) -> TrainingData:
    """Return a lesson in which all agents have probed all units."""
    distances = np.random.default_rng(1).uniform(1, 100, agents * units)
    agent, unit = np.divmod(np.arange(agents * units), units)
    return TrainingData(tuple(range(1, agents + 1)), Probes(agent, unit, distances), units)


Children = Callable[[], list[BaseProcess]]


@pytest.fixture
def children() -> Children:
    """Return what lists the children that were begun since; some of tests before may still end."""
    before = {child.pid for child in multiprocessing.active_children()}
    return lambda: [one for one in multiprocessing.active_children() if one.pid not in before]


def test_a_child_learns_the_same(children: Children) -> None:
    """What a child says is what is learned here; the child ends afterwards."""
    training_data, trainer = training_data_of(4, 50), ChildTrainer()
    try:
        assert trainer(training_data) == train(training_data)
        wait_until(lambda: not children(), "a child is left")
    finally:
        trainer.close()


def test_a_killed_child_is_replaced(
    database: Database, children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits is told; the next model is made by another child, and kept."""
    world = probing(database, "a")
    probed(world, "a")
    trainer = ChildTrainer()
    model = ModelTraining(trainer)
    killer = threading.Thread(target=kill_a_child, args=(children,))
    try:
        killer.start()
        with monkeypatch.context() as patch:
            patch.setattr(child_processes, "train", never)
            with pytest.raises(BusyError, match="ended unexpectedly"):
                model.refresh(database, world.now_ms)
        killer.join()
        assert ModelTraining(trainer).refresh(database, world.now_ms)
    finally:
        trainer.close()
    with database.read() as tx:
        assert predictions.stored_model(tx) is not None


@pytest.mark.parametrize(
    "limits",
    [Limits(memory_bytes=2**40, cpu_s=1.0), Limits(memory_bytes=1_000_000, cpu_s=NO_END_S)],
    ids=["processor", "memory"],
)
def test_a_child_has_limits(limits: Limits) -> None:
    """One that takes more than its share of a processor or of memory ends, and that is told."""
    trainer = ChildTrainer(limits)
    try:
        with pytest.raises(BusyError, match="it may take"):
            trainer(training_data_of(100, 4000))
    finally:
        trainer.close()


def test_a_stop_does_not_wait_for_what_is_learned(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child ends in the middle; who waits for it is told why, and nothing begins any more."""
    monkeypatch.setattr(child_processes, "train", never)
    trainer = ChildTrainer()
    told: list[TrainingResult | BusyError | None] = []

    def ask() -> None:
        try:
            told.append(trainer(training_data_of(1, 1)))
        except BusyError as error:
            told.append(error)

    asker = threading.Thread(target=ask)
    asker.start()
    wait_until(lambda: bool(children()), "no child was started")
    trainer.end()
    asker.join(60)
    trainer.close()
    assert [str(one) for one in told] == [
        "the manager is stopping: try again when it has restarted"
    ]
    with pytest.raises(BusyError, match="is stopping"):
        trainer(training_data_of(1, 1))


def never(_: TrainingData) -> TrainingResult | None:
    """Learn for longer than any test."""
    time.sleep(600)
    return None


def kill_a_child(children: Children) -> None:
    """Kill the child that learns, as soon as there is one."""
    wait_until(lambda: bool(children()), "no child was started")
    pid = children()[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def wait_until(holds: Callable[[], bool], otherwise: str) -> None:
    """Wait until something holds."""
    give_up = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < give_up, otherwise
        time.sleep(0.01)
