"""Retries: after a cut, and when the server asks for one.

Pauses double from one second to a minute, with a random half; `tries` failures in a row without one
new byte are enough. A server that names a time is waited for, up to `longest_wait_s`.
Source: RFC 9110, 10.2.3 (Retry-After); BOINC's back-off, as in design 3, rule 9.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import shared.retry_after
from client.errors import CutError, LaterError, StoppedError

__all__ = ["Patience", "RetryPolicy", "retry_after_s"]

LEAST_S: Final = 1.0
MOST_S: Final = 60.0
UNTOLD_S: Final = 30.0
"""A server that is busy and does not say for how long."""


def retry_after_s(field_value: str, now_s: float, date: str | None = None) -> float | None:
    """Return the seconds that a Retry-After asks for; None where it says nothing that counts."""
    wait_s = shared.retry_after.retry_after_s([field_value], date, now_s)
    return wait_s if wait_s is None or wait_s < shared.retry_after.LONGEST_S else None


@dataclass
class Patience:
    """Patience of retries, and their stop. Shared by all downloads of a run.

    tell: sentences about what is waited for. stopping: set when the run is to end.
    """

    tries: int = 8
    longest_wait_s: float = 3600.0
    stopping: threading.Event = field(default_factory=threading.Event)
    tell: Callable[[str], None] = lambda _: None
    scale: float = 1.0  # tests wait less
    chance: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self._changing = threading.Lock()
        self._quiet_until = 0.0

    def check(self) -> None:
        """Raise StoppedError where the run is to end."""
        if self.stopping.is_set():
            raise StoppedError("stopped; the next run continues where this one ended")

    def wait_for_quiet(self) -> None:
        """Wait while the server has asked this run, by any of its downloads, to wait."""
        while True:
            with self._changing:
                left_s = self._quiet_until - time.monotonic()
            if left_s <= 0:
                return self.check()
            self.pause(left_s)

    def be_quiet(self, seconds: float) -> None:
        """Pause all downloads of the run."""
        with self._changing:
            self._quiet_until = max(self._quiet_until, time.monotonic() + seconds)

    def pause(self, seconds: float) -> None:
        """Wait, or raise StoppedError."""
        self.stopping.wait(seconds)
        self.check()


class RetryPolicy:
    """The failures in a row of one file or request."""

    def __init__(self, patience: Patience, what: str) -> None:
        self._patience = patience
        self._what = what
        self._failures = 0

    def progressed(self) -> None:
        """Forget the failures: something new came."""
        self._failures = 0

    def failed(self, error: CutError | LaterError) -> None:
        """Wait for the next try, or raise the error where it was the last."""
        patience = self._patience
        patience.check()
        if isinstance(error, LaterError):
            self._later(error)
            return
        self._failures += 1
        if self._failures >= patience.tries:
            raise error
        grown_s = min(MOST_S, LEAST_S * 2.0 ** min(self._failures - 1, 16))
        pause_s = grown_s * (0.5 + patience.chance.random() / 2) * patience.scale
        patience.tell(f"{self._what}: {error}; again in {pause_s:.0f} s")
        patience.pause(pause_s)

    def _later(self, error: LaterError) -> None:
        patience = self._patience
        asked_s = error.retry_after_s
        if asked_s is None:
            self._failures += 1
            if self._failures >= patience.tries:
                raise error
            asked_s = UNTOLD_S * patience.scale
        elif asked_s > patience.longest_wait_s:
            raise error
        patience.tell(f"{self._what}: {error}; again in {asked_s:.0f} s")
        patience.be_quiet(asked_s)
        patience.wait_for_quiet()
