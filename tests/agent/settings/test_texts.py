"""Texts with a form of their own are parsed once, here."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.settings import window_minutes


@given(st.integers(0, 1439), st.integers(1, 1440))
def test_windows_come_back(first: int, end: int) -> None:
    """Every pair of minutes that is not empty is read as written."""
    if first == end:
        return
    text = f"{first // 60:02}:{first % 60:02}-{end // 60:02}:{end % 60:02}"
    assert window_minutes(text) == (first, end)
