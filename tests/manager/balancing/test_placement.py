"""What has no owner gets one, and nothing else moves."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from manager.balancing.arrays import NO_OWNER
from manager.balancing.placement import place
from manager.balancing.problem import Problem, collapse
from tests.manager.balancing.problems import problems


@given(problems())
def test_placed_atoms_stay_and_the_rest_gets_an_owner(problem: Problem) -> None:
    """Every atom has an owner that may have it; whoever had one keeps it."""
    atoms = collapse(problem)
    owner = place(atoms)
    held = atoms.start != NO_OWNER
    assert np.array_equal(owner[held], atoms.start[held])
    assert np.isfinite(atoms.costs[owner, np.arange(atoms.count)]).all()


def test_the_cheapest_agent_below_the_makespan_gets_it() -> None:
    """A new unit goes where it is cheapest among those that it does not push over the makespan."""
    costs = np.array([[50.0, 1], [100, 9], [100, 7]])
    problem = Problem(("a", "b", "c"), costs, np.array([0, NO_OWNER]))
    assert place(collapse(problem)).tolist() == [0, 2]


def test_what_raises_the_makespan_goes_where_it_ends_lowest() -> None:
    """A unit that is too large for every agent goes where the makespan rises least."""
    costs = np.array([[10.0, 30], [99, 35]])
    problem = Problem(("a", "b"), costs, np.array([0, NO_OWNER]))
    assert place(collapse(problem)).tolist() == [0, 1]


def test_a_ceiling_leaves_room_for_the_cheapest() -> None:
    """With a ceiling above the makespan the cheapest agent takes it all the same."""
    costs = np.array([[10.0, 30], [99, 35]])
    problem = Problem(("a", "b"), costs, np.array([0, NO_OWNER]))
    assert place(collapse(problem), ceiling_ms=45).tolist() == [0, 0]
