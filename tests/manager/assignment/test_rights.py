"""The right to fetch passes only through free; what may free it, and what may not."""

from __future__ import annotations

import pytest

from tests.manager.assignment.rights_model import (
    Free,
    Granted,
    Kind,
    Right,
    RightError,
    Withdrawn,
    acknowledge,
    finish,
    grant,
    holder,
    may_grant,
    permit_over,
    stands_in,
    withdraw,
)

X, Y = 1, 2
FREE = Free()
HELD = Granted(X, Kind.CRAWL, 3, 5)
GOING = Withdrawn(X, Kind.CRAWL, 3, 5, 8)


def test_a_free_unit_can_be_granted() -> None:
    """The first list to name it is the next one."""
    assert grant(FREE, X, Kind.PROBE, 1, 7) == Granted(X, Kind.PROBE, 1, 7)


def test_granting_again_changes_nothing() -> None:
    """The same right to the same agent keeps the generation that first named it."""
    assert grant(HELD, X, Kind.CRAWL, 3, 9) is HELD


@pytest.mark.parametrize(("right", "agent"), [(HELD, Y), (GOING, Y), (GOING, X)])
def test_what_is_not_free_is_refused(right: Right, agent: int) -> None:
    """While one agent holds the unit, or is giving it up, nobody gets it; the reason is said."""
    with pytest.raises(RightError, match="agent 1"):
        grant(right, agent, Kind.CRAWL, 3, 1)


@pytest.mark.parametrize(("kind", "number"), [(Kind.PROBE, 3), (Kind.CRAWL, 4)])
def test_another_purpose_needs_a_withdrawal(kind: Kind, number: int) -> None:
    """Who probes does not crawl, and a new round is a new right."""
    with pytest.raises(RightError, match="withdraw that before"):
        grant(HELD, X, kind, number, 9)


def test_a_withdrawal_waits_for_its_generation() -> None:
    """Only the holder, and only with a list that lacks the unit, frees it."""
    going = withdraw(HELD, 8)
    assert going == GOING
    assert acknowledge(going, X, 7) is going
    assert acknowledge(going, Y, 8) is going
    assert acknowledge(going, X, 8) == FREE
    assert acknowledge(going, X, 11) == FREE


def test_an_acknowledgement_frees_nothing_that_is_held() -> None:
    """An agent that has the newest list keeps what stands in it."""
    assert acknowledge(HELD, X, 99) is HELD


def test_a_second_withdrawal_keeps_the_first_generation() -> None:
    """Every list since the first lacks the unit; waiting longer would be for nothing."""
    assert withdraw(GOING, 12) is GOING
    assert withdraw(FREE, 12) is FREE


def test_what_no_list_named_is_free_at_once() -> None:
    """Granted and withdrawn before the generation was raised: nobody can know of it."""
    assert withdraw(Granted(X, Kind.CRAWL, 3, 8), 8) == FREE


@pytest.mark.parametrize("right", [HELD, GOING])
def test_finished_is_free(right: Right) -> None:
    """The holder's own report frees the unit, also while it is being withdrawn."""
    assert finish(right, X, Kind.CRAWL, 3, 5) == FREE


@pytest.mark.parametrize(
    ("agent", "kind", "number", "generation"),
    [
        (Y, Kind.CRAWL, 3, 5),
        (X, Kind.PROBE, 3, 5),
        (X, Kind.CRAWL, 2, 5),
        (X, Kind.CRAWL, 3, 4),
    ],
)
def test_other_reports_of_finishing_change_nothing(
    agent: int, kind: Kind, number: int, generation: int
) -> None:
    """Another's report, another purpose, an earlier round, a list that did not name the unit."""
    assert finish(HELD, agent, kind, number, generation) is HELD
    assert finish(FREE, agent, kind, number, generation) is FREE


@pytest.mark.parametrize("right", [HELD, GOING])
def test_a_permit_that_is_over_frees_its_agents_rights(right: Right) -> None:
    """And nobody else's."""
    assert permit_over(right, X) == FREE
    assert permit_over(right, Y) is right
    assert permit_over(FREE, X) is FREE


def test_who_holds_it() -> None:
    """An agent that is giving the unit up still counts."""
    assert (holder(FREE), holder(HELD), holder(GOING)) == (None, X, X)


@pytest.mark.parametrize(
    ("right", "named"),
    [
        (FREE, [False] * 4),
        (HELD, [False, True, True, True]),
        (GOING, [False, True, True, False]),
    ],
)
def test_which_lists_name_it(right: Right, named: list[bool]) -> None:
    """From the generation of the grant up to, not including, that of the withdrawal."""
    assert [stands_in(right, X, generation) for generation in (4, 5, 7, 8)] == named
    assert not any(stands_in(right, Y, generation) for generation in (4, 5, 7, 8))


def test_a_group_is_with_one_agent() -> None:
    """Nobody gets a unit while another holds, or is giving up, anything on its address."""
    assert may_grant([FREE, FREE], Y)
    assert may_grant([FREE, HELD, GOING], X)
    assert not may_grant([FREE, HELD], Y)
    assert not may_grant([FREE, GOING], Y)
    assert may_grant([FREE, HELD], Y, shares=2)
    assert not may_grant([HELD], Y, shares=1)
