"""Bars are drawn by the server, to scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.console.drawings.stacked_bars import WIDTH, mark_at, stacked
from manager.console.pages.planning.cost_bars import cost_bars

NUMBERS = st.lists(st.floats(0, 1e15), max_size=8)


@given(NUMBERS)
def test_parts_fill_the_bar_and_no_more(numbers: list[float]) -> None:
    """The parts stand one behind the other and end at the bar's end."""
    parts = stacked([("x", number) for number in numbers])
    end = 0.0
    for part in parts:
        assert part.x == pytest.approx(end, abs=0.1)
        end = part.x + part.width
    assert end <= WIDTH + 0.1
    if sum(numbers) > 0:
        assert end == pytest.approx(WIDTH, abs=0.1)


def test_a_part_is_as_long_as_its_share() -> None:
    """A quarter of the whole is a quarter of the width."""
    parts = stacked([("done", 1), ("failed", 0), ("waiting", 3)])
    assert [(part.name, part.x, part.width) for part in parts] == [
        ("done", 0, 250),
        ("waiting", 250, 750),
    ]
    assert stacked([("cost", 5)], 20)[0].width == 250


def test_marks_stay_on_the_bar() -> None:
    """A line that marks a number is never off the drawing."""
    assert mark_at(5, 10) == 500
    assert mark_at(50, 10) == WIDTH
    assert mark_at(5, 0) == 0


def test_costs_share_one_scale_and_the_costliest_is_first() -> None:
    """All agents are drawn to one scale, which holds the bound too."""
    agents = [
        {"name": "a", "before_ms": 100.0, "after_ms": 50.0, "units_before": 1, "units_after": 1},
        {"name": "b", "before_ms": 0.0, "after_ms": 80.0, "units_before": 0, "units_after": 2},
    ]
    bars = cost_bars(agents, 60.0)
    assert [bar.name for bar in bars.bars] == ["b", "a"]
    assert (bars.bars[1].before, bars.bars[1].after, bars.bound) == (1000, 500, 600)
    assert cost_bars([], None).busiest is None
