"""Figures that are dear to ask are asked seldom, and shown meanwhile."""

from __future__ import annotations

import threading

import pytest

from manager.db.figure_cache import (
    KEYS_MOST,
    OLDEST_S,
    QUICK_S,
    FigureCache,
    StillCountingError,
    page_figures,
)


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
    kept = FigureCache(asked.clock)
    assert [kept.get("x", asked) for _ in range(3)] == [1, 2, 3]


def test_what_is_slow_is_kept_and_asked_anew_behind() -> None:
    """For twenty times as long as it took it stays; then it is shown once more, and is new."""
    asked = _Asked(2.0)
    kept = FigureCache(asked.clock)
    assert [kept.get("x", asked) for _ in range(3)] == [1, 1, 1]
    asked.now_s += 39
    assert (kept.get("x", asked), asked.times) == (1, 1)
    asked.now_s += 2
    asked.done.clear()
    assert kept.get("x", asked) == 1
    assert asked.done.wait(30)
    kept.close()
    assert (kept.get("x", asked), asked.times) == (2, 2)


def test_a_script_is_not_given_what_is_too_old() -> None:
    """It waits, once, instead of reading yesterday's."""
    asked = _Asked(2.0)
    kept = FigureCache(asked.clock)
    kept.get("x", asked)
    asked.now_s += OLDEST_S
    assert kept.get("x", asked) == 2


def test_who_looks_is_shown_what_is_old_with_its_age() -> None:
    """Who comes in the morning sees yesterday's, and how old it is; then what is new."""
    asked = _Asked(2.0)
    kept = FigureCache(asked.clock)
    kept.get("x", asked)
    asked.now_s += 40_000
    asked.done.clear()
    with page_figures(0.0) as look:
        assert kept.get("x", asked) == 1
    assert look.oldest_s == 40_000
    assert asked.done.wait(30)
    kept.close()
    with page_figures(0.0) as look:
        assert kept.get("x", asked) == 2
    assert look.oldest_s == 0


def test_nobody_who_looks_waits_for_the_first_figure() -> None:
    """He hears that it is being counted, by one; later it is there. A script waits for it."""
    go = threading.Event()
    asked = _Asked(2.0)
    kept = FigureCache(asked.clock)

    def slow() -> int:
        assert go.wait(30)
        return asked()

    for _ in range(3):
        with page_figures(0.01), pytest.raises(StillCountingError):
            kept.get("x", slow)
    go.set()
    with page_figures(30):
        assert kept.get("x", slow) == 1
    assert (kept.get("x", slow), asked.times) == (1, 1)
    kept.close()


def test_what_failed_while_nobody_waited_is_told_at_the_next_look() -> None:
    """And is then asked again."""
    go = threading.Event()
    kept = FigureCache()

    def fails() -> int:
        assert go.wait(30)
        return 1 // 0

    with page_figures(0.01), pytest.raises(StillCountingError):
        kept.get("x", fails)
    go.set()
    with page_figures(30), pytest.raises(ZeroDivisionError):
        kept.get("x", fails)
    with page_figures(30):
        assert kept.get("x", lambda: 3) == 3
    kept.close()


def test_of_too_many_figures_the_quickest_goes() -> None:
    """What is dear to ask stays, however many others are looked at."""
    dear = _Asked(9.0)
    kept = FigureCache(dear.clock)
    kept.get("dear", dear)
    for number in range(KEYS_MOST + 5):
        kept.get(number, lambda: 0)
    kept.get("dear", dear)
    assert dear.times == 1


def test_keys_are_apart_and_failures_are_told() -> None:
    """One key's figure is not another's; what fails the first time raises, and is asked again."""
    kept = FigureCache()
    assert (kept.get("x", lambda: 1), kept.get("y", lambda: 2)) == (1, 2)
    with pytest.raises(ZeroDivisionError):
        kept.get("z", lambda: 1 // 0)
    assert kept.get("z", lambda: 3) == 3


def test_many_who_look_at_once_ask_once() -> None:
    """The first asks, the others wait for it."""
    begun, go = threading.Event(), threading.Event()
    asked = _Asked(2.0)
    kept = FigureCache(asked.clock)

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
    kept = FigureCache(asked.clock)
    kept.get("x", asked)
    kept.forget("x")
    assert kept.get("x", asked) == 2
    kept.forget("y")


def test_what_failed_does_not_stay_in_the_place_of_what_is_dear() -> None:
    """An hour without a database leaves nothing behind that others are forgotten for."""
    asked = _Asked(2.0)
    kept = FigureCache(asked.clock)

    def fails() -> int:
        raise KeyError("no database")

    for number in range(KEYS_MOST):
        with pytest.raises(KeyError):
            kept.get(("failed", number), fails)
    for name in ("x", "y", "x", "y"):
        kept.get(name, asked)
    assert asked.times == 2
