"""Ratios in words are short, whatever they are divided by."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.distance import spoken_times


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
