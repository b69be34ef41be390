"""Plans are the same, wherever they are made."""

from __future__ import annotations

import numpy as np
import pytest

from manager.app import planning
from manager.app.planning import ChildPlanner
from manager.balancing import NOBODY, BalancingError, Options, Problem, make_plan


@pytest.fixture
def problem() -> Problem:
    """Return two agents and six units that nobody owns."""
    costs = np.arange(12, dtype=float).reshape(2, 6) + 1
    return Problem(("a", "b"), costs, np.full(6, NOBODY, dtype=np.intp))


def test_a_child_makes_the_same_plan(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large problem goes to a child, a small one is solved here; the plans are equal."""
    wanted = make_plan("prices", problem, Options(seed=1))
    planner = ChildPlanner()
    try:
        here = planner("prices", problem, Options(seed=1))
        monkeypatch.setattr(planning, "SMALL_CELLS", 0)
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
    monkeypatch.setattr(planning, "SMALL_CELLS", 0)
    planner = ChildPlanner()
    methods = ["prices", "magic", "keep"]
    first, second, third = planner.compare(methods, problem, Options(), 60)
    plan = make_plan("prices", problem)
    assert (first.makespan_ms, first.moves) == (plan.makespan_after_ms, len(plan.moves))
    assert "unknown" in second.why
    assert (third.method, third.why) == ("keep", "")
    late = planner.compare(methods, problem, Options(), 0)
    assert [(one.method, one.why) for one in late] == [
        (name, "not ready within 0 s") for name in methods
    ]
