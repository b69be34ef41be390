"""Ratios in words are short, whatever they are divided by."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.ratios import change_of, spoken_change, spoken_times


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (10, "10"),
        (0.1, "10"),
        (1, "1"),
        (2.34, "2.3"),
        (0.5, "2"),
        (9_999, "9,999"),
        (1e-4, "10,000"),
        (1e12, "more than 10,000"),
        (1e-90, "more than 10,000"),
        (0, "more than 10,000"),
        (math.inf, "more than 10,000"),
    ],
)
def test_a_ratio_and_its_reverse_are_the_same_words(ratio: float, words: str) -> None:
    """The sentence around says which is more."""
    assert spoken_times(ratio) == words


@given(st.floats(0, allow_nan=False))
def test_no_ratio_has_many_digits(ratio: float) -> None:
    """0 ms once printed 90 of them."""
    assert len(spoken_times(ratio)) <= len("more than 10,000")


@pytest.mark.parametrize(
    ("number", "before", "words"),
    [
        (125.3, 100, "+25.3%"),
        (97, 100, "-3.0%"),
        (100, 100, "+0.0%"),
        (0, 100, "-100.0%"),
        (999, 100, "+899.0%"),
        (1_000, 100, "10 times"),
        (199_475, 100, "1,995 times"),
        (4_000, 0.002, "more than 10,000 times"),
        (1e300, 1e-300, "more than 10,000 times"),
        (4_000, 0, None),
        (4_000, -1, None),
        (4_000, None, None),
        (None, 100, None),
        (math.nan, 100, None),
    ],
)
def test_a_change_is_told_in_percent_up_to_ten_times(
    number: float | None, before: float | None, words: str | None
) -> None:
    """Where nothing is there to compare to, there is no change."""
    assert spoken_change(change_of(number, before)) == words


@given(st.floats(0, allow_nan=False), st.floats(0, allow_nan=False))
def test_no_change_has_many_digits(number: float, before: float) -> None:
    """Whatever was measured, and whatever was planned."""
    assert len(spoken_change(change_of(number, before)) or "") <= len("more than 10,000 times")
