"""A value that is dear to make is made seldom."""

from __future__ import annotations

import pytest

from manager.console.cached_value import Kept


def test_a_value_is_made_again_when_it_is_old() -> None:
    """Within its time it is the same; after it, or when the clock was set back, it is new."""
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    kept: Kept[int] = Kept(1000)
    asked = [kept.get(now_ms, make) for now_ms in (5000, 5999, 6000, 6999, 5500)]
    assert asked == [0, 0, 1, 1, 2]


def test_a_failure_is_not_kept() -> None:
    """Where making fails, the next one who asks tries again."""
    kept: Kept[int] = Kept(1000)
    with pytest.raises(ZeroDivisionError):
        kept.get(0, lambda: 1 // 0)
    assert kept.get(0, lambda: 7) == 7
