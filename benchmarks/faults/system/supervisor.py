"""Start again what died: what systemd does where it is installed as shipped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from benchmarks.faults.fault import FaultError

__all__ = ["RESTART_S", "Supervisor"]

RESTART_S: Final = 2.0  # RestartSec of deploy/prsm.service
LOOK_S: Final = 0.2


@dataclass
class _Kept:
    runs: Callable[[], bool]
    start: Callable[[], object]
    died_s: float | None = None


class Supervisor:
    """Watches processes in a separate thread."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._paused: set[str] = set()
        self._turn = threading.RLock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._also: Callable[[], object] = lambda: None

    def watch(self, name: str, runs: Callable[[], bool], start: Callable[[], object]) -> None:
        """Keep a process running."""
        self._kept[name] = _Kept(runs, start)

    def start(self, also: Callable[[], object]) -> None:
        """Begin. also: is called each second; FaultError is what it may raise."""
        self._also = also
        self._thread = threading.Thread(target=self._run, daemon=True, name="supervisor")
        self._thread.start()

    def close(self) -> None:
        """Start nothing again."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(60)

    @contextmanager
    def paused(self, *names: str) -> Iterator[None]:
        """Leave these alone while the block runs; without names all of them."""
        chosen = set(names or self._kept) - self._paused
        with self._turn:
            self._paused |= chosen
        try:
            yield
        finally:
            with self._turn:
                self._paused -= chosen

    def _run(self) -> None:
        asked_s = 0.0
        while not self._ended.wait(LOOK_S):
            with self._turn:
                for name, one in self._kept.items():
                    if name not in self._paused:
                        self._look(one)
                    else:
                        one.died_s = None
            if time.monotonic() - asked_s > 1:
                with suppress(FaultError):
                    self._also()
                asked_s = time.monotonic()

    def _look(self, one: _Kept) -> None:
        now_s = time.monotonic()
        if one.runs():
            one.died_s = None
        elif one.died_s is None:
            one.died_s = now_s
        elif now_s - one.died_s >= RESTART_S:
            one.start()
            one.died_s = None
