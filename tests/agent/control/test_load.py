"""A machine that has too much to do is left alone until it is clearly calmer."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.control.load import GAP_S, LoadGuard, load_a_core


def test_it_pauses_above_the_limit_and_goes_on_a_fifth_below(tmp_path: Path) -> None:
    """In between nothing changes, so that it does not flicker."""
    loads = iter([1.9, 2.1, 1.9, 1.7, 1.5, 1.9])
    guard = LoadGuard(2.0, tmp_path / "load.json", lambda: next(loads))
    said = [guard.check() for _ in range(6)]
    assert [bool(text) for text in said] == [False, True, True, True, False, False]
    assert "pages.max_load_per_core = 2" in str(said[1])


def test_without_a_limit_nothing_is_too_much(tmp_path: Path) -> None:
    """And this machine's own load is a number."""
    guard = LoadGuard(0.0, tmp_path / "load.json", lambda: 1e9)
    assert guard.check() is None
    assert guard.calm == 1.0
    guard.retune(1.0)
    assert "1000000000.0 a core" in str(guard.check())
    assert load_a_core() >= 0


class Machine:
    """A clock and a load, looked at as seldom as counts."""

    def __init__(self, path: Path) -> None:
        self.now_s = 0.0
        self.load = 0.0
        self.guard = LoadGuard(1.0, path, lambda: self.load, lambda: self.now_s)

    def goes_on(self, hours: float, load: float, *, counts: bool = True) -> float:
        self.load = load
        for _ in range(round(hours * 3600 / GAP_S)):
            self.now_s += GAP_S
            self.guard.check(counts=counts)
        return self.guard.calm


def test_how_calm_it_was_lately_is_told_and_remembered(tmp_path: Path) -> None:
    """Of its hours only; a process that begins anew knows it, a machine that slept was not busy."""
    machine = Machine(tmp_path / "load.json")
    assert machine.guard.calm == 1.0
    assert machine.goes_on(3, 9.0, counts=False) == 1.0
    assert machine.goes_on(24, 9.0) == pytest.approx(0.37)
    assert machine.goes_on(24, 0.0) == pytest.approx(0.77)
    machine.guard.check(last=True)
    again = Machine(tmp_path / "load.json")
    assert again.guard.calm == pytest.approx(0.77)
    again.now_s += 86_400.0
    again.load = 9.0
    again.guard.check()
    assert again.guard.calm == pytest.approx(0.77)
    assert again.goes_on(150, 9.0) == 0.01


@pytest.mark.parametrize("text", ["", "[", '{"calm": 7}', '{"calm": NaN}', '{"calm": "x"}', "[1]"])
def test_what_cannot_be_read_is_nothing(tmp_path: Path, text: str) -> None:
    """A machine of which nothing is known is calm."""
    (tmp_path / "load.json").write_text(text)
    assert LoadGuard(1.0, tmp_path / "load.json").calm == 1.0
