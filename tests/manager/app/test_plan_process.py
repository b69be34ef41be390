"""Plans are the same, wherever they are made."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any, cast

import numpy as np
import pytest

from manager.app import child_processes
from manager.app.child_processes import ChildPlanner
from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import Options, make_plan
from manager.balancing.errors import BalancingError
from manager.balancing.problem import Problem
from shared.messages import Message


@pytest.fixture
def problem() -> Problem:
    """Return two agents and six units that nobody owns."""
    costs = np.arange(12, dtype=float).reshape(2, 6) + 1
    return Problem(("a", "b"), costs, np.full(6, NO_OWNER, dtype=np.intp))


def test_a_child_makes_the_same_plan(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large problem goes to a child, a small one is solved here; the plans are equal."""
    wanted = make_plan("prices", problem, Options(seed=1))
    planner = ChildPlanner()
    try:
        here = planner("prices", problem, Options(seed=1))
        monkeypatch.setattr(child_processes, "SMALL_CELLS", 0)
        there = planner("prices", problem, Options(seed=1))
        with pytest.raises(BalancingError):
            planner("magic", problem, Options())
    finally:
        planner.close()
    for plan in (here, there):
        assert plan.after.tolist() == wanted.after.tolist()
        assert plan.makespan_after_ms == wanted.makespan_after_ms


def test_a_child_compares_methods(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers are those of plans made here; what is not ready in time says so."""
    monkeypatch.setattr(child_processes, "SMALL_CELLS", 0)
    planner = ChildPlanner()
    methods = ["prices", "magic", "keep"]
    first, second, third = planner.compare(methods, problem, Options(), 60)
    plan = make_plan("prices", problem)
    assert (first.makespan_ms, first.moves) == (plan.makespan_after_ms, len(plan.moves))
    assert second.why is not None
    assert second.why.code == "balancing.unknown_method"
    assert (third.method, third.why) == ("keep", None)
    late = planner.compare(methods, problem, Options(), 0)
    assert [(one.method, one.why) for one in late] == [
        (name, Message("planning.not_ready", limit_s=0)) for name in methods
    ]


class Endless:
    """A problem that takes for ever, in a child; what has it there says so first."""

    @property
    def costs(self) -> Any:
        """Return what tells how large it is."""
        if multiprocessing.parent_process() is not None:
            print(os.getpid(), flush=True)
            time.sleep(600)
        return np.zeros((1, child_processes.SMALL_CELLS + 1))

    names = before = edges = near = group = pins = forbidden = unreachable = costs


def test_a_comparison_ends_with_the_manager() -> None:
    """A manager that is killed leaves no child behind that computes for nobody."""
    code = f"from {__name__} import compare_for_ever as go; go()"
    manager = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert manager.stdout is not None
    with manager.stdout as said:
        child = int(said.readline())
        manager.kill()
        manager.wait(60)
        try:
            # A line is over when nobody has its other end any more.
            over, _, _ = select.select([said], [], [], 60)
            assert over, "the child goes on"
            assert said.read() == b""
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def compare_for_ever() -> None:
    """Be a manager that compares methods."""
    ChildPlanner().compare(["prices"], cast(Problem, Endless()), Options(), 600)
