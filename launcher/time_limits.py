"""A time for all of an exchange with the manager: a limit for each read lets bytes drip for ever.

An alarm of the kernel ends it, wherever it waits; so this is for the main thread only.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tuf.api.exceptions import DownloadError

from launcher.errors import OfflineError

__all__ = ["ANSWER_S", "METADATA_S", "download_s", "time_limit"]

ANSWER_S: Final = 300.0
METADATA_S: Final = 600.0  # all signed files; they are small
LEAST_BYTES_PER_S: Final = 20_000
LONGEST_S: Final = 4 * 3600.0
AGAIN_S: Final = 60.0  # an alarm may be lost, where it meets the interpreter clearing up


class LateError(OfflineError, DownloadError):
    """The exchange took too long; The Update Framework's client passes it on as its own error."""


def download_s(size_bytes: int) -> float:
    """Return for how long a file of a size may be fetched."""
    return min(LONGEST_S, METADATA_S + size_bytes / LEAST_BYTES_PER_S)


@contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """Do something, or raise LateError where it is not done in time."""

    def late(*_: object) -> None:
        raise LateError(f"{what}: not done within {seconds:g} s; something on the way is too slow")

    handler = signal.signal(signal.SIGALRM, late)
    left_s, _ = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left_s, AGAIN_S if left_s else 0.0)
        signal.signal(signal.SIGALRM, handler)
