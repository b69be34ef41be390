"""Schedule of calls to the manager: its pace, earlier calls for news, back-off after failures.

Times are seconds of CLOCK_BOOTTIME: a machine that slept calls at once.
Source: BOINC's scheduler back-off; design 3, rule 9.
"""

from __future__ import annotations

import random
from typing import Final

from agent.errors import LinkError, RefusedError, WaitError
from shared.frozen import frozen
from shared.wire.installation import HOUR_S

__all__ = ["LEAST_WAIT_S", "LONGEST_WAIT_S", "Backoff", "CallSchedule"]

LEAST_WAIT_S: Final = 0.05  # and whatever it says, a call has an end before the next one begins
LONGEST_WAIT_S: Final = 86_400.0  # whatever a manager says: a day without a word is too long
EARLY_SHARE: Final = 0.1  # of the manager's pace; news may come so much sooner
EARLY_LEAST_S: Final = 0.2
_SLOW: Final = frozenset({401, 403, 404, 409, 426})  # only a person can mend these


@frozen
class Backoff:
    """Pause after a failure: `min(most, least * 2^n) * (0.5 + random / 2)`.

    The random half keeps a fleet from calling together when its manager comes back.
    """

    least_s: float
    most_s: float

    def pause_s(self, failures: int, rng: random.Random) -> float:
        """Return the pause after so many failures in a row (from 1)."""
        # 2^62 times anything is above every maximum; beyond, the power would overflow.
        grown_s = self.least_s * 2.0 ** min(failures - 1, 62)
        return min(self.most_s, grown_s) * (0.5 + rng.random() / 2)


class CallSchedule:
    """The time of the next sync."""

    def __init__(self, backoff: Backoff, rng: random.Random, now_s: float) -> None:
        """Begin with a call at once."""
        self._backoff = backoff
        self._rng = rng
        self._failures = 0
        self._pace_s = 0.0
        self._sent_s = now_s
        self.next_s = now_s

    def note_sent(self, now_s: float) -> None:
        """Take note that a sync is sent now."""
        self._sent_s = now_s

    def note_answer(self, pace_s: float, rest_s: float, now_s: float) -> None:
        """Plan the next call. pace_s: the manager's; rest_s: for which this agent sleeps."""
        self._failures = 0
        self._pace_s = min(max(LEAST_WAIT_S, pace_s), LONGEST_WAIT_S)
        self.next_s = now_s + max(self._pace_s, min(rest_s, LONGEST_WAIT_S))

    def note_failure(self, error: LinkError, now_s: float) -> None:
        """Plan the next call after one that failed."""
        self._failures += 1
        pause_s = self._backoff.pause_s(self._failures, self._rng)
        if isinstance(error, RefusedError) and error.is_foreign:
            pause_s = HOUR_S + self._backoff.pause_s(1, self._rng)
        elif isinstance(error, RefusedError) and error.status in _SLOW:
            pause_s = self._backoff.most_s * (0.5 + self._rng.random() / 2)
        if isinstance(error, WaitError) and error.retry_after_s is not None:
            # The manager's own time is the least; the random half spreads the fleet behind it.
            spread_s = self._backoff.pause_s(1, self._rng)
            pause_s = min(error.retry_after_s, LONGEST_WAIT_S) + spread_s
        self.next_s = now_s + pause_s

    def retry_smaller(self, now_s: float) -> None:
        """Call again after the shortest pause: the refused sync can be made smaller."""
        self.next_s = now_s + self._backoff.pause_s(1, self._rng)

    def call_soon(self, now_s: float) -> None:
        """Call sooner, because there is news; a manager that asked for time still gets it."""
        if self._failures:
            return
        gap_s = max(EARLY_LEAST_S, self._pace_s * EARLY_SHARE)
        self.next_s = min(self.next_s, max(now_s, self._sent_s + gap_s))
