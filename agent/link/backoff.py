"""Back-off after a failure: `min(max, base * 2^n) * (0.5 + random / 2)`.

The random half keeps a fleet from calling together when its manager comes back.
Source: BOINC's scheduler back-off; design 3, rule 9.
"""

from __future__ import annotations

import random

from shared.frozen import frozen

__all__ = ["Backoff"]


@frozen
class Backoff:
    """The two ends of the pause."""

    least_s: float
    most_s: float

    def pause_s(self, failures: int, rng: random.Random) -> float:
        """Return the pause after so many failures in a row (from 1)."""
        # 2^62 times anything is above every maximum; beyond, the power would overflow.
        grown_s = self.least_s * 2.0 ** min(failures - 1, 62)
        return min(self.most_s, grown_s) * (0.5 + rng.random() / 2)
