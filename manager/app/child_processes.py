"""Compute large plans and train the distance model in child processes.

A plan of seconds, or a training of a minute, must not block all requests. Invariant: a child has no
database handle. Small problems are solved here; a child costs a second to start, more than their
solution. A comparison of plans has a separate child, which is killed when its time is over, so that
it never delays a plan; it ends with the manager, too. A training's child ends after it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from typing import Final

from manager.balancing.balancers import Compared, Options, make_plan, prospects
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem
from manager.distance.training_data import TrainingData, TrainingResult, train
from manager.intake.workers.workers import Limits, Workers
from manager.operations.planning.planners import InProcessPlanner, too_late

__all__ = ["ChildPlanner", "ChildTrainer"]

SMALL_PROBES: Final = 2_000
"""Probes that a model is trained on in tens of milliseconds."""

LIMITS: Final = Limits(memory_bytes=2_000_000_000, cpu_s=600.0)
"""Many times what the probes of 10,000 agents need."""

SMALL_CELLS: Final = 200_000
"""Agents times units that are solved in tens of milliseconds."""

_Job = tuple[str, Problem, Options]


class ChildPlanner:
    """A planner for `make_plan` and `tick`; any thread may call it."""

    def __init__(self) -> None:
        self._workers = Workers(1)

    def __call__(self, method: str, problem: Problem, options: Options) -> Plan:
        """Return a plan."""
        if problem.costs.size <= SMALL_CELLS:
            return make_plan(method, problem, options)
        return self._workers.run_here(_make_plan, (method, problem, options))

    def compare(
        self, methods: Sequence[str], problem: Problem, options: Options, within_s: float
    ) -> list[Compared]:
        """Return what each of some methods would give; those not ready in time say so."""
        if problem.costs.size <= SMALL_CELLS:
            return InProcessPlanner().compare(methods, problem, options, within_s)
        until_s = time.monotonic() + within_s
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe(duplex=False)
        child = spawn.Process(
            target=_compare, args=(theirs, tuple(methods), problem, options), daemon=True
        )
        child.start()
        theirs.close()
        try:
            found = _received(ours, len(methods), until_s)
        finally:
            child.kill()
            child.join()
            ours.close()
        return found + [too_late(method, within_s) for method in methods[len(found) :]]

    def end(self) -> None:
        """Kill the child at once, in the middle of its work."""
        self._workers.end()

    def close(self) -> None:
        """End the child."""
        self._workers.close()


def _make_plan(job: _Job) -> Plan:
    return make_plan(*job)


def _received(ours: Connection, count: int, until_s: float) -> list[Compared]:
    """Return what a child sent until a moment of the monotonic clock, or until it died."""
    found: list[Compared] = []
    while len(found) < count and ours.poll(max(0.0, until_s - time.monotonic())):
        try:
            found.append(ours.recv())
        except EOFError:
            break
    return found


def _compare(
    theirs: Connection, methods: tuple[str, ...], problem: Problem, options: Options
) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()
    for compared in prospects(methods, problem, options):
        theirs.send(compared)


def _end_with_parent() -> None:
    """End this process where the manager is killed: a method may take hours and gigabytes."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


class ChildTrainer:
    """A trainer for `ModelTraining`; any thread may call it."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._workers = Workers(1, limits)

    def __call__(self, training_data: TrainingData) -> TrainingResult | None:
        """Return the trained model. Raises BusyError where the child died."""
        if len(training_data.probes.agent) <= SMALL_PROBES:
            return train(training_data)
        try:
            return self._workers.run_here(train, training_data)
        finally:
            self._workers.rest()

    def end(self) -> None:
        """Kill the child at once, in the middle of its work."""
        self._workers.end()

    def close(self) -> None:
        """End the child."""
        self._workers.close()
