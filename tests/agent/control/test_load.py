"""A machine that has too much to do is left alone until it is clearly calmer."""

from __future__ import annotations

from agent.control.load import LoadGuard, load_a_core


def test_it_pauses_above_the_limit_and_goes_on_a_fifth_below() -> None:
    """In between nothing changes, so that it does not flicker."""
    loads = iter([1.9, 2.1, 1.9, 1.7, 1.5, 1.9])
    guard = LoadGuard(2.0, lambda: next(loads))
    said = [guard.look() for _ in range(6)]
    assert [bool(text) for text in said] == [False, True, True, True, False, False]
    assert "pages.most_load = 2" in said[1]


def test_without_a_limit_nothing_is_too_much() -> None:
    """And this machine's own load is a number."""
    guard = LoadGuard(0.0, lambda: 1e9)
    assert guard.look() == ""
    guard.retune(1.0)
    assert "1000000000.0 a core" in guard.look()
    assert load_a_core() >= 0
