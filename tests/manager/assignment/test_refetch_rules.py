"""Which captures agree, who is contradicted, and when a third agent is asked."""

from __future__ import annotations

import pytest

from manager.assignment.refetch_rules import (
    Seen,
    Tally,
    is_comparable,
    judge,
    needs_another,
    pages_to_draw,
    same,
)

PAGE, CHANGED, OTHER = Seen(200, 9_000), Seen(200, 14_000), Seen(200, 30_000)
GONE, SILENT = Seen(404, 500), Seen(None, 0)


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (PAGE, Seen(200, 10_500), True),  # within a tenth and 1,000 bytes
        (PAGE, Seen(200, 12_000), False),
        (PAGE, GONE, False),
        (PAGE, SILENT, False),
        (SILENT, SILENT, True),
        (GONE, Seen(404, 1_400), True),
    ],
)
def test_what_two_visits_may_differ_in(one: Seen, other: Seen, agree: bool) -> None:
    """The status never, the size a little."""
    assert same(one, other) is same(other, one) is agree


def test_a_page_that_changed_is_no_lie() -> None:
    """The second and the third agent see it changed: but nobody is called a liar by one alone."""
    assert judge({1: PAGE, 2: CHANGED}) == {1: None, 2: None}
    assert needs_another({1: PAGE, 2: CHANGED})
    assert judge({1: PAGE, 2: CHANGED, 3: OTHER}) == {1: None, 2: None, 3: None}


def test_two_against_one_decide_whoever_the_one_is() -> None:
    """The agent that is asked about, or the one that fetched it again."""
    assert judge({1: PAGE, 2: GONE, 3: GONE}) == {1: False, 2: True, 3: True}
    assert judge({1: PAGE, 2: GONE, 3: PAGE}) == {1: True, 2: False, 3: True}


def test_a_page_is_fetched_until_somebody_agrees_or_two_differ() -> None:
    """One that agrees is enough; a third decides; more are not asked."""
    assert needs_another({1: PAGE})
    assert not needs_another({1: PAGE, 2: PAGE})
    assert needs_another({1: PAGE, 2: GONE})
    assert not needs_another({1: PAGE, 2: GONE, 3: GONE})
    assert not needs_another({1: PAGE, 2: GONE, 3: OTHER})


@pytest.mark.parametrize("status", [304, 429, 500, 503])
def test_what_belongs_to_a_moment_is_not_compared(status: int) -> None:
    """Another visit may well have another answer."""
    assert not is_comparable(status)
    assert is_comparable(None)
    assert is_comparable(404)


def test_a_share_counts_from_ten_pages_on() -> None:
    """A few pages that changed are no suspicion."""
    assert not Tally(9, 9).is_suspect
    assert not Tally(50, 10).is_suspect
    assert Tally(50, 11).is_suspect
    assert Tally(50, 11).reason.params == {"compared": 50, "contradicted": 11}


@pytest.mark.parametrize(
    ("requests", "drawn"), [(5, 30), (2_999, 30), (5_000, 50), (19_000, 190), (10**7, 200)]
)
def test_a_hundredth_within_bounds(requests: int, drawn: int) -> None:
    """So a round of any size costs the same."""
    assert pages_to_draw(requests, 0.01, 30, 200) == drawn
    assert pages_to_draw(requests, 0.0, 30, 200) == 0
