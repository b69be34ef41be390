"""What must hold is built into the atoms, so that no method can break it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from manager.balancing.arrays import NO_OWNER
from manager.balancing.errors import BalancingError
from manager.balancing.problem import Problem, collapse
from tests.manager.balancing.problems import problems


def problem(**changed: Any) -> Problem:
    """Return three agents, four units; units 1 and 3 on one address."""
    given: dict[str, Any] = {
        "names": ("a", "b", "c"),
        "costs": np.array([[1.0, 2, 3, 4], [10, 20, 30, 40], [100, 200, 300, 400]]),
        "before": np.array([0, 1, NO_OWNER, 2]),
        "group": np.array([0, 7, 2, 7]),
    }
    return Problem(**(given | changed))


def test_a_group_is_one_atom() -> None:
    """Units on one address become one column with the sum of their costs."""
    atoms = collapse(problem())
    assert atoms.of_unit.tolist() == [0, 2, 1, 2]
    assert atoms.costs[:, 2].tolist() == [6, 60, 600]
    assert atoms.sizes.tolist() == [1, 1, 2]


def test_a_split_group_starts_with_who_holds_most() -> None:
    """Of a group that two agents hold, the one with the greater cost counts as owner."""
    assert collapse(problem()).start.tolist() == [0, NO_OWNER, 2]


def test_costs_of_the_caller_are_not_changed() -> None:
    """Bans are written into a copy."""
    given = problem(group=None, forbidden=np.eye(3, 4, dtype=np.bool_))
    collapse(given)
    assert np.isfinite(given.costs).all()


def test_a_pin_forbids_everybody_else() -> None:
    """A pinned atom costs infinity but at its agent, where it starts."""
    atoms = collapse(problem(pins=np.array([NO_OWNER, 0, NO_OWNER, NO_OWNER])))
    assert np.isfinite(atoms.costs[:, 2]).tolist() == [True, False, False]
    assert atoms.start[2] == 0
    assert atoms.fixed.tolist() == [False, False, True]


def test_a_pin_outweighs_a_ban() -> None:
    """Where the operator pinned a unit, it goes, reachable or not."""
    banned = np.zeros((3, 4), dtype=np.bool_)
    banned[0] = True
    atoms = collapse(
        problem(
            pins=np.array([0, NO_OWNER, NO_OWNER, NO_OWNER]), forbidden=banned, unreachable=banned
        )
    )
    assert atoms.costs[0, 0] == 1
    assert atoms.unreached == 0


def test_an_owner_that_lost_reach_does_not_count() -> None:
    """A unit whose owner cannot reach it has no owner, while another agent can."""
    unreachable = np.zeros((3, 4), dtype=np.bool_)
    unreachable[0, 0] = True
    atoms = collapse(problem(unreachable=unreachable))
    assert atoms.start[0] == NO_OWNER
    assert np.isinf(atoms.costs[0, 0])


def test_what_nobody_reaches_stays_possible_but_not_for_the_forbidden() -> None:
    """Unreachable for all is unreachable for none; a rule still holds."""
    unreachable = np.zeros((3, 4), dtype=np.bool_)
    unreachable[:, 0] = True
    forbidden = np.zeros((3, 4), dtype=np.bool_)
    forbidden[1, 0] = True
    atoms = collapse(problem(unreachable=unreachable, forbidden=forbidden))
    assert np.isfinite(atoms.costs[:, 0]).tolist() == [True, False, True]
    assert atoms.unreached == 1


def test_one_unreachable_unit_bars_its_whole_group() -> None:
    """An agent that cannot reach one unit of an address does not get the others either."""
    unreachable = np.zeros((3, 4), dtype=np.bool_)
    unreachable[0, 3] = True
    assert np.isinf(collapse(problem(unreachable=unreachable)).costs[0, 2])


@given(problems())
def test_atoms_are_always_solvable(given_problem: Problem) -> None:
    """Each atom has an agent that may have it, and never starts with one that may not."""
    atoms = collapse(given_problem)
    assert np.isfinite(atoms.costs).any(axis=0).all()
    held = np.flatnonzero(atoms.start != NO_OWNER)
    assert np.isfinite(atoms.costs[atoms.start[held], held]).all()
    assert atoms.sizes.sum() == given_problem.costs.shape[1]
    if given_problem.forbidden is not None and given_problem.pins is not None:
        free = given_problem.forbidden & (given_problem.pins == NO_OWNER)
        pinned = atoms.fixed[atoms.of_unit]
        assert np.isinf(atoms.costs[:, atoms.of_unit][free & ~pinned]).all()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"names": ("a", "b")}, "2 names for 3 agents"),
        ({"names": (), "costs": np.empty((0, 4))}, "enrol one first"),
        ({"before": np.array([0, 1, 3, 2])}, "outside 0..2"),
        ({"before": np.array([0, 1, 2])}, "before has shape 3: must be 4"),
        ({"pins": np.array([0, 1, -2, 2])}, "outside 0..2"),
        ({"group": np.array([0])}, "group has shape 1: must be 4"),
        ({"costs": np.full((3, 4), np.nan)}, "finite"),
        ({"costs": np.full((3, 4), np.inf)}, "finite"),
        ({"costs": np.full((3, 4), -1.0)}, "finite and >= 0"),
        ({"forbidden": np.zeros((4, 3), dtype=np.bool_)}, "forbidden has shape"),
        ({"unreachable": np.zeros((4, 3), dtype=np.bool_)}, "unreachable has shape"),
        ({"edges": np.array([[0, 3]])}, "agent 3"),
    ],
)
def test_contradictions_are_refused(changed: dict[str, Any], said: str) -> None:
    """A problem that makes no sense is refused with the reason."""
    with pytest.raises(BalancingError, match=said):
        problem(**changed)


def test_two_pins_on_one_address_are_refused() -> None:
    """Units on one address cannot be pinned to two agents; the message names both."""
    with pytest.raises(BalancingError, match=r"unit 1 is pinned to a, .* to b"):
        collapse(problem(pins=np.array([NO_OWNER, 0, NO_OWNER, 1])))


def test_a_unit_forbidden_to_all_is_refused() -> None:
    """A rule that leaves a unit nobody is a mistake, and said to be one."""
    forbidden = np.zeros((3, 4), dtype=np.bool_)
    forbidden[:, 2] = True
    with pytest.raises(BalancingError, match=r"unit 2 .* forbidden to every agent"):
        collapse(problem(forbidden=forbidden))
