"""English sentences agree with the number 1, and stay as they are with any other."""

from __future__ import annotations

import pytest

from shared.plurals import with_plurals


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("it calls, holds 1 units, but", "it calls, holds 1 unit, but"),
        ("1 units change hands", "1 unit changes hands"),
        ("1 of 5 units change hands.", "1 of 5 units changes hands."),
        ("1 agents are asked, 2 agents are not", "1 agent is asked, 2 agents are not"),
        ("a gives b 1 units (2.0 s)", "a gives b 1 unit (2.0 s)"),
        ("1 directories, 1 addresses", "1 directory, 1 address"),
        ("11 units, 21 hosts, 0.1 bytes", "11 units, 21 hosts, 0.1 bytes"),
        ("1,001 units", "1,001 units"),
        ("0 units and 2 units", "0 units and 2 units"),
        ("round 1 hosts", "round 1 host"),
        ("1 new hosts, 1 new start pages", "1 new host, 1 new start page"),
        ("1 other plans were applied", "1 other plan was applied"),
        ("edge 1 names 7, which has no cost", "edge 1 names 7, which has no cost"),
    ],
)
def test_what_is_counted_agrees_with_its_number(text: str, said: str) -> None:
    """A noun behind 1 is singular, as is the verb behind that; other numbers change nothing."""
    assert with_plurals(text) == said
