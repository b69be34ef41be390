"""A spread adds up over logs and gives quartiles that are near those of the lines themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.distance.errors import DistanceError
from manager.distance.spread import BINS_AN_OCTAVE, Spread, merged

spreads = st.dictionaries(st.integers(-80, 511), st.integers(1, 1000), max_size=20).map(Spread)


def of_values(values: list[float]) -> Spread:
    """Count values into the bins, as the sums of a log do."""
    found = Spread()
    for value in values:
        found = merged(found, Spread({math.floor(BINS_AN_OCTAVE * math.log2(value)): 1}))
    return found


def lines_of(spread: Spread) -> int:
    """Return how many lines a spread is of."""
    return sum(spread.counts.values())


def test_quartiles_are_those_of_the_lines_within_a_bin() -> None:
    """Half a bin is 4.4%."""
    values = np.random.default_rng(1).lognormal(3, 1, 1001)
    found = of_values(values.tolist()).quartiles
    assert found is not None
    wanted = np.quantile(values, [0.25, 0.5, 0.75])
    assert [found.first, found.median, found.third] == pytest.approx(wanted.tolist(), rel=0.07)


@given(spreads, spreads)
def test_spreads_add_up(first: Spread, second: Spread) -> None:
    """In either order, through the tables or not; no line is lost."""
    both = merged(Spread.of_text(first.text), second)
    assert both == merged(second, first)
    assert lines_of(both) == lines_of(first) + lines_of(second)
    if lines_of(both):
        found = both.quartiles
        assert found is not None
        assert 0 < found.first <= found.median <= found.third


def test_no_line_has_no_quartiles() -> None:
    """Nothing came back: there is nothing to spread."""
    assert Spread().quartiles is None
    assert Spread().text == ""


@pytest.mark.parametrize("text", ["1", "a:1", "1:-2", "9999:1", "1:1:1", "1:" + "9" * 30])
def test_a_text_that_is_none_is_refused(text: str) -> None:
    """Tables hold what was written, or a person is told."""
    with pytest.raises(DistanceError, match="must be BIN:LINES"):
        Spread.of_text(text)
