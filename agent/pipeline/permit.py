"""The right to fetch, as the agent counts it.

A permit lasts `duration_s` from the *sending* of the sync that it answers, on CLOCK_BOOTTIME, so
that neither a slow answer nor a sleeping machine lengthens it. Here it ends `margin_s` earlier
than at the manager: one request deadline plus one interval, so that the last request that was begun
under it is over, and its address rested, before anybody else may begin. A permit is not written
down: a new process has none.
Source: design rule "never two owners"; Gray and Cheriton, Leases (1989).
"""

from __future__ import annotations

from agent.pipeline.ports import Clock
from shared.frozen import frozen

__all__ = ["HeldPermit", "PermitGate"]


@frozen
class HeldPermit:
    """A permit in force. `ends_s` is on CLOCK_BOOTTIME."""

    epoch: int
    ends_s: float


class PermitGate:
    """Says, at each request, whether it may be sent."""

    def __init__(self, clock: Clock, margin_s: float) -> None:
        self._clock = clock
        self._margin_s = margin_s
        self._held: HeldPermit | None = None

    def grant(self, epoch: int, duration_s: float, sent_boottime_s: float) -> None:
        """Take a permit that answered a sync sent at `sent_boottime_s`.

        An older epoch than the one held is a late answer and changes nothing.
        """
        if self._held is not None and epoch < self._held.epoch:
            return
        self._held = HeldPermit(epoch, sent_boottime_s + duration_s - self._margin_s)

    def revoke(self) -> None:
        """Give the permit up: the manager granted none, or the agent ends."""
        self._held = None

    @property
    def held(self) -> HeldPermit | None:
        """Return the permit in force, or None."""
        return self._held if self.remaining_s() > 0 else None

    def remaining_s(self) -> float:
        """Return for how long requests may still be begun; 0 without a permit."""
        if self._held is None:
            return 0.0
        return max(0.0, self._held.ends_s - self._clock.boottime_s())

    def may_fetch(self) -> bool:
        """Return whether a request may be begun now."""
        held = self._held  # asked twice a request: without the detours
        return held is not None and held.ends_s > self._clock.boottime_s()
