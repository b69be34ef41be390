"""Figures that are dear to ask are asked seldom, and shown meanwhile."""

from __future__ import annotations

import threading

import pytest

from manager.db.kept import OLDEST_S, QUICK_S, KeptFigures


class _Asked:
    """A question that takes as long as is said, by a clock of its own."""

    def __init__(self, takes_s: float) -> None:
        self.now_s = 1000.0
        self.takes_s = takes_s
        self.times = 0
        self.done = threading.Event()

    def clock(self) -> float:
        return self.now_s

    def __call__(self) -> int:
        self.now_s += self.takes_s
        self.times += 1
        self.done.set()
        return self.times


def test_what_is_quick_is_asked_each_time() -> None:
    """A small system shows what is."""
    asked = _Asked(QUICK_S / 2)
    kept = KeptFigures(asked.clock)
    assert [kept.get("x", asked) for _ in range(3)] == [1, 2, 3]


def test_what_is_slow_is_kept_and_asked_anew_behind() -> None:
    """For twenty times as long as it took it stays; then it is shown once more, and is new."""
    asked = _Asked(2.0)
    kept = KeptFigures(asked.clock)
    assert [kept.get("x", asked) for _ in range(3)] == [1, 1, 1]
    asked.now_s += 39
    assert (kept.get("x", asked), asked.times) == (1, 1)
    asked.now_s += 2
    asked.done.clear()
    assert kept.get("x", asked) == 1
    assert asked.done.wait(30)
    kept.close()
    assert (kept.get("x", asked), asked.times) == (2, 2)


def test_what_is_too_old_is_not_shown() -> None:
    """Who comes in the morning waits, once, instead of seeing yesterday."""
    asked = _Asked(2.0)
    kept = KeptFigures(asked.clock)
    kept.get("x", asked)
    asked.now_s += OLDEST_S
    assert kept.get("x", asked) == 2


def test_keys_are_apart_and_failures_are_told() -> None:
    """One key's figure is not another's; what fails the first time raises, and is asked again."""
    kept = KeptFigures()
    assert (kept.get("x", lambda: 1), kept.get("y", lambda: 2)) == (1, 2)
    with pytest.raises(ZeroDivisionError):
        kept.get("z", lambda: 1 // 0)
    assert kept.get("z", lambda: 3) == 3


def test_many_who_look_at_once_ask_once() -> None:
    """The first asks, the others wait for it."""
    begun, go = threading.Event(), threading.Event()
    asked = _Asked(2.0)
    kept = KeptFigures(asked.clock)

    def slow() -> int:
        begun.set()
        assert go.wait(30)
        return asked()

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("x", slow))) for _ in range(8)]
    threads[0].start()
    assert begun.wait(30)
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(30)
    assert (found, asked.times) == ([1] * 8, 1)


def test_what_is_forgotten_is_asked_anew() -> None:
    """Who changed what a figure counts sees it changed."""
    asked = _Asked(2.0)
    kept = KeptFigures(asked.clock)
    kept.get("x", asked)
    kept.forget("x")
    assert kept.get("x", asked) == 2
    kept.forget("y")
