"""Honest agents: each sends a small log, a list of hosts and a sync every few seconds.

A refusal is answered as an agent answers it: it sends the same again, a second later. What counts
is the time from the first try to the acceptance.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from benchmarks.senders.bodies import found_hosts, small_log

__all__ = ["HonestAgent", "Waits"]

EVERY_S: Final = 5.0  # two uploads each time: below limits.uploads_per_minute
RETRY_S: Final = 1.0
ANSWER_S: Final = 60.0  # as agents wait


@dataclass
class Waits:
    """Seconds until messages were accepted, of all honest agents. worst: which one it was."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    never: int = 0
    worst: str = ""
    pages: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, what: str, seconds: float) -> None:
        """Note a message that was accepted."""
        with self.lock:
            if seconds > max(self.seconds, default=0):
                self.worst = what
            self.seconds.append(seconds)

    @property
    def worst_s(self) -> float:
        """Return the longest wait."""
        return max(self.seconds, default=0.0)

    @property
    def median_s(self) -> float:
        """Return the median wait."""
        return sorted(self.seconds)[len(self.seconds) // 2] if self.seconds else 0.0


class HonestAgent:
    """One agent, in a thread; `stop` begins no more and waits for what is under way."""

    def __init__(
        self, name: str, client: httpx.Client, kind: str, waits: Waits, until: Callable[[], float]
    ) -> None:
        """until: the moment after which what is not accepted yet counts as never accepted."""
        self._name = name
        self._client = client
        self._kind = kind
        self._waits = waits
        self._until = until
        self._over = threading.Event()
        self._number = 0
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self, after_s: float) -> None:
        """Begin after a while."""
        self._number = round(after_s * 1000)
        self._over.clear()
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing more."""
        self._over.set()

    def join(self) -> None:
        """Wait for what is under way."""
        self._thread.join()

    def _run(self) -> None:
        time.sleep(self._number / 1000)
        while not self._over.is_set():
            begun = time.monotonic()
            self._number += 1
            if self._kind == "sync":
                self._accepted("sync", "api/v1/sync", json=_sync(self._name, self._number))
            else:
                log = small_log(self._name, self._number)
                self._accepted("log", "servlets/submitlog", content=log)
                self._accepted("list", "servlets/record", content=found_hosts(self._number))
            self._over.wait(max(0.0, begun + EVERY_S - time.monotonic()))

    def _accepted(self, what: str, path: str, **body: Any) -> None:
        begun = time.monotonic()
        while True:
            status = 0
            try:
                status = self._client.post(path, timeout=ANSWER_S, **body).status_code
            except httpx.HTTPError as error:
                what = f"{what} ({type(error).__name__})"
            now = time.monotonic()
            if status == 200:
                self._waits.add(what, now - begun)
                return
            with self._waits.lock:
                self._waits.refused += 1
            if now > self._until():
                with self._waits.lock:
                    self._waits.never += 1
                self._waits.add(f"{what}, never", now - begun)
                return
            time.sleep(RETRY_S)


def _sync(agent: str, sequence: int) -> dict[str, object]:
    return {"agent": agent, "boot_id": "b", "sequence": sequence, "version": "1", "clock_ms": 5,
            "state": "starting"}  # fmt: skip
