"""The linear program is a lower bound, reached where atoms can be divided, and rounds to a plan."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from manager.balancing import lp
from manager.balancing.arrays import NO_OWNER
from manager.balancing.bound import lower_bound
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.errors import BalancingError
from manager.balancing.lp import MOST_ATOMS, assign_by_lp, relax
from manager.balancing.problem import Problem, collapse
from tests.manager.balancing.problems import problems


@settings(max_examples=60)
@given(problems(largest=5))
def test_no_assignment_is_below_the_relaxation(problem: Problem) -> None:
    """Of all assignments the best is not below it, nor above the rounded one."""
    atoms = collapse(problem)
    bound = lower_bound(atoms.costs)
    rounded = assign_by_lp(atoms, bound)
    seats = [np.flatnonzero(np.isfinite(column)).tolist() for column in atoms.costs.T]
    best = min(
        makespan(agent_costs(atoms.costs, np.array(owner, dtype=np.intp)))[0]
        for owner in product(*seats)
    )
    reached, _ = makespan(agent_costs(atoms.costs, rounded.owner))
    assert rounded.relaxed.makespan_ms <= best * (1 + 1e-6) + 1e-6
    assert best <= reached * (1 + 1e-9)


def test_what_can_be_divided_is_even() -> None:
    """Three equal hosts for two agents: one is divided, each agent has one and a half."""
    atoms = collapse(Problem(("a", "b"), np.ones((2, 3)), np.full(3, NO_OWNER)))
    relaxed = relax(atoms, lower_bound(atoms.costs))
    assert relaxed.makespan_ms == pytest.approx(1.5)
    assert relaxed.divided == 1
    assert sorted(relaxed.owner.tolist()).count(NO_OWNER) == 1


def test_pairs_left_out_at_first_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beginning with one pair of each atom ends where beginning with all of them does."""
    rng = np.random.default_rng(7)
    costs = np.exp(rng.standard_normal((8, 60)))
    atoms = collapse(Problem(tuple("abcdefgh"), costs, np.full(60, NO_OWNER)))
    bound = lower_bound(atoms.costs)
    found = []
    for pairs in (1, 8):
        monkeypatch.setattr(lp, "_AT_FIRST", pairs)
        found.append(relax(atoms, bound))
    assert found[0].makespan_ms == pytest.approx(found[1].makespan_ms, rel=1e-6)
    assert all(one.divided <= 8 for one in found)


def test_what_is_fixed_counts() -> None:
    """Pinned units are load that nobody can take over."""
    pins = np.array([0, NO_OWNER, NO_OWNER])
    costs = np.array([[10.0, 2, 2], [10, 2, 2]])
    atoms = collapse(Problem(("a", "b"), costs, np.full(3, NO_OWNER), pins=pins))
    relaxed = relax(atoms, lower_bound(atoms.costs))
    assert relaxed.makespan_ms == pytest.approx(10)
    assert relaxed.owner.tolist() == [0, 1, 1]


def test_too_many_are_refused() -> None:
    """With the number, the limit, and what to use."""
    units = MOST_ATOMS + 1
    atoms = collapse(Problem(("a",), np.ones((1, units)), np.full(units, NO_OWNER)))
    with pytest.raises(BalancingError, match=r"20,001 hosts .* the limit is 20,000: use prices"):
        relax(atoms, lower_bound(atoms.costs))
