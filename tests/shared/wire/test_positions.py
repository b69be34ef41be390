"""Positions as people type them."""

from __future__ import annotations

import pytest

from shared.errors import FormatError
from shared.wire.positions import Position, position_of_text


@pytest.mark.parametrize("text", ["35.0268 135.7808", "35.0268,135.7808", " 35.0268 , 135.7808 "])
def test_two_numbers_are_a_position(text: str) -> None:
    """To a hundredth of a degree, whatever stands between them."""
    assert position_of_text(text) == Position(35.03, 135.78)


def test_no_words_are_no_position() -> None:
    """Who says nothing is nowhere."""
    assert position_of_text(" ") is None


@pytest.mark.parametrize(
    "text", ["35.03", "1 2 3", "Kyoto Japan", "91 0", "0 -181", "nan 0", "1e400 0"]
)
def test_what_is_no_position_is_refused(text: str) -> None:
    """The sentence has an example."""
    with pytest.raises(FormatError, match=r"35\.03"):
        position_of_text(text)
