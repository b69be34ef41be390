"""Releases that could not be installed here: for how long each is left alone.

What does not install today hardly does tomorrow, and a night's download is a partner's traffic. So
a failure is remembered, and its release is tried again after a wait that doubles, or at once where
something else is signed of it, or a person asks.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from shared.plurals import with_plurals

__all__ = ["Failure", "failure_text", "next_failure"]

FIRST_WAIT_MS: Final = 36 * 3_600_000  # one of the daily looks is left out
LONGEST_WAIT_MS: Final = 32 * 86_400_000
WHY: Final = 900


@dataclass(frozen=True)
class Failure:
    """A release's failures, the last of `times`. signed: digest of its signed data.

    at_ms, until_ms: when it was, and until when it is left alone; epoch, by this site's clock.
    """

    signed: str
    step: str
    why: str
    at_ms: int
    until_ms: int
    times: int = 1

    def blocks(self, signed: str, now_ms: int) -> bool:
        """Return whether the release is to be left alone; a clock that went back ends that."""
        return signed == self.signed and self.at_ms <= now_ms < self.until_ms


def next_failure(before: Failure | None, signed: str, step: str, why: str, now_ms: int) -> Failure:
    """Return the record of a failure now. before: the earlier record; None: there is none."""
    times = before.times + 1 if before is not None and before.signed == signed else 1
    wait_ms = min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(times - 1, 8))
    return Failure(signed, step, why[:WHY], now_ms, now_ms + wait_ms, times)


def failure_text(version: str, failure: Failure) -> str:
    """Return in words how a release failed, how often, and until when it is left alone."""
    until = time.strftime("%Y-%m-%d %H:%M", time.localtime(failure.until_ms / 1000))
    often = "once" if failure.times == 1 else with_plurals(f"{failure.times} times")
    return (
        f"{version} failed at {failure.step} ({often}) and is left alone until "
        f"{until}: {failure.why}"
    )
