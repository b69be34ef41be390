"""Run a round of a whole system to its end, and show its progress: a bar, or some lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, TextIO

from tools.demo.system import Manager
from tools.pace import polls

__all__ = ["NoProgressError", "ProgressLine", "counts", "describe", "run_round"]

_WIDTH: Final = 24
_PARTS: Final = 4
"""Without a terminal, a stage has a line at its begin and at each quarter."""


class NoProgressError(Exception):
    """A round stood still for too long; the message says where it stands."""


def run_round(
    manager: Manager,
    method: str,
    *,
    stall_s: float,
    show: Callable[[dict[str, Any]], None],
    look_every_s: float = 0.5,
) -> dict[str, Any]:
    """Start a round, wait until it is finished, and return what the manager says of it.

    show: is called with the round's detail (`prsm rounds show --json`) whenever it has changed.
    stall_s: seconds of a quiet machine (`tools/pace.py`) without any change before the wait ends.
    `wall_s` is added: what this process's clock showed. Each look costs half a second of CPU.
    Raises NoProgressError.
    """
    begun = time.monotonic()
    manager.prsm("rounds", "start", "--method", method)
    number = manager.prsm("rounds", "show")["round"]["number"]
    detail: dict[str, Any] = {}
    while True:
        before = _progress(detail)
        for _ in polls(stall_s, look_every_s):
            detail = manager.prsm("rounds", "show", str(number))
            if _progress(detail) != before:
                break
        else:
            raise NoProgressError(
                f"round {number} has not advanced for {stall_s:.0f} s ({describe(detail)})"
            )
        show(detail)
        if detail["round"]["state"] == "finished":
            detail["wall_s"] = time.monotonic() - begun
            return detail


def counts(detail: dict[str, Any]) -> tuple[int, int]:
    """Return the ended and all probes of a round, or units where they are crawled."""
    states: dict[str, int] = detail["orders" if _is_probing(detail) else "units"]
    ended = sum(states.get(state, 0) for state in ("done", "finished", "failed"))
    return ended, sum(states.values())


def describe(detail: dict[str, Any]) -> str:
    """Return a round's state and counts: `crawling, 25 of 43 units, 310 pages`."""
    done, total = counts(detail)
    words = f"{detail['round']['state']}, {done} of {total}"
    if _is_probing(detail):
        return f"{words} probes"
    failed = detail["units"].get("failed", 0)
    pages = sum(agent["pages"] for agent in detail["agents"])
    return f"{words} units{f' ({failed} failed)' if failed else ''}, {pages} pages"


def _is_probing(detail: dict[str, Any]) -> bool:
    return detail["round"]["crawling_ms"] is None


def _progress(detail: dict[str, Any]) -> object:
    """Return what changes while a round advances; None before the first look."""
    if not detail:
        return None
    agents = [(agent["name"], agent["pages"], agent["bytes"]) for agent in detail["agents"]]
    return detail["round"]["state"], detail["orders"], detail["units"], agents


class ProgressLine:
    """Writes progress to a stream; on a terminal the newest state replaces the one before."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._moves = stream.isatty()
        self._shown: tuple[str, int] | None = None
        self._width = 0

    def say(self, words: str) -> None:
        """Write words that stay."""
        self.end()
        self._write(words + "\n")

    def show(self, words: str, stage: str, done: int, total: int) -> None:
        """Show how far a stage is: done of total."""
        if self._moves:
            bar = "#" * (_WIDTH * done // max(1, total))
            line = f"[{bar:<{_WIDTH}}] {words}"
            self._write("\r" + line.ljust(self._width))
            self._width = len(line)
            return
        part = (stage, _PARTS * done // max(1, total))
        if part != self._shown:
            self._shown = part
            self._write(words + "\n")

    def end(self) -> None:
        """End the line that moves, so that the next words begin a new one."""
        if self._width:
            self._write("\n")
            self._width = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
