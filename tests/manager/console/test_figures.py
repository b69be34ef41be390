"""Numbers and times are short, with units, the same everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.console import figures


def _plain(text: str) -> str:
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("size_bytes", "said"),
    [
        (None, "–"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 KB"),
        (53_040, "53.0 KB"),
        (1_234_567, "1.23 MB"),
        (512e9, "512 GB"),
        (3e15, "3.00 PB"),
    ],
)
def test_bytes_are_decimal(size_bytes: float | None, said: str) -> None:
    """A KByte is 1,000 bytes, as in the mission; three digits are enough."""
    assert _plain(figures.amount(size_bytes)) == said


@pytest.mark.parametrize(
    ("length_ms", "said"),
    [
        (None, "–"),
        (0, "0 ms"),
        (350.4, "350 ms"),
        (999.4, "999 ms"),
        (999.7, "1.0 s"),
        (2_940, "2.9 s"),
        (4_750, "4.8 s"),
        (9_949, "9.9 s"),
        (9_960, "10 s"),
        (27_464, "27 s"),
        (27_600, "28 s"),
        (59_700, "1 min"),
        (64_100, "1 min 4 s"),
        (11_520_000, "3 h 12 min"),
        (11_559_000, "3 h 13 min"),
        (86_399_999, "1 d"),
    ],
)
def test_durations_have_two_parts(length_ms: float | None, said: str) -> None:
    """A duration is said in its two largest parts."""
    assert _plain(figures.duration(length_ms)) == said


def test_moments_before_and_after_now() -> None:
    """A moment is said from now: ago, in, now."""
    assert _plain(figures.ago(1_000, 66_000)) == "1 min 5 s ago"
    assert _plain(figures.ago(66_000, 1_000)) == "in 1 min 5 s"
    assert figures.ago(1_000, 1_500) == "now"


def test_a_clock_is_ahead_or_behind() -> None:
    """A skew has a sign, and none where there is none."""
    assert _plain(figures.skew(90_000)) == "+1 min 30 s"
    assert _plain(figures.skew(-2_000)) == "−2.0 s"
    assert _plain(figures.skew(-8)) == "−8 ms"
    assert _plain(figures.skew(0)) == "0 ms"


def test_change_in_percent() -> None:
    """A change is said against what was before; against nothing there is none."""
    assert _plain(figures.change(75, 100)) == "−25.0%"
    assert _plain(figures.change(110, 100)) == "+10.0%"
    assert figures.change(1, 0) == "–"
    assert figures.change(1, None) == "–"
    assert _plain(figures.change(199_475, 100)) == "1,995 times"
    assert _plain(figures.change(1, 1e-90)) == "more than 10,000 times"


@given(st.integers(-(2**63), 2**63 - 1))
def test_any_moment_can_be_shown(at_ms: int) -> None:
    """A clock that is wrong by ages breaks no page."""
    assert figures.moment(at_ms).endswith("UTC")
    assert figures.iso(at_ms).endswith("Z")
