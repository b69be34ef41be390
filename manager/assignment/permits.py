"""Permits: until when an agent may continue fetching without contact to the manager.

One for each agent. Invariant: an agent's permit is over at the agent before it is over at the
manager, whatever the network delays and the manager's clock does. Both sides contribute:

- The agent counts from the *sending* of the sync, on a clock that runs on through sleep
  (CLOCK_BOOTTIME), and stops starting requests one request deadline and one interval earlier. The
  manager counts from the latest moment at which it may have handled the sync. So the last request
  is over, and its address has rested, before it can give the unit away.
- The manager's time is that of its ticks. Any manager may handle a sync, and its clock may be wrong
  by a month in either direction, so it is not asked: a permit counts from the longest gap after the
  last tick. Either the next tick comes by then, or it finds that the clock leapt or stood, and
  moves all permits with it first (`extension_ms`); nothing is ever ended but by a tick.
- A step too small to be seen is covered too: every permit is kept as long again as the longest gap
  that counts as none. That covers one unseen step in a permit's life, and a permit in use is
  renewed every minute.
- After a reboot, and after a list older than the fence, an agent has no permit (`renew`). The
  fence keeps an agent that was declared lost from returning with its old list.

The epoch counts the permits of one agent; a permit that was over comes back with a new one.
Source: design rule "never two owners"; the leases of Gray and Cheriton (1989) with the waiting on
the granter's side.
"""

from __future__ import annotations

from dataclasses import replace

from manager.assignment.errors import RuleError
from shared.frozen import frozen

__all__ = ["Permit", "extension_ms", "handover_ms", "manager_time"]


@frozen
class Permit:
    """The permit of one agent, as the manager keeps it; times are the manager's.

    until_ms: over from this moment on. fence_generation: no permit for a list older than this.
    """

    epoch: int = 0
    until_ms: int = 0
    fence_generation: int = 0

    def is_over(self, now_ms: int) -> bool:
        """Return whether the agent must have stopped fetching. For the tick, after extending."""
        return now_ms >= self.until_ms

    def renew(
        self, generation_held: int, last_tick_ms: int, duration_ms: int, longest_gap_ms: int
    ) -> Permit | None:
        """Return the permit for a sync that is handled after a tick; None: fetch M1 first.

        duration_ms: as sent to the agent. longest_gap_ms: the longest gap between two ticks that
        counts as none; it is added once for the time since the last tick, once for a step. Renewing
        never makes a permit shorter.
        """
        if generation_held < self.fence_generation:
            return None
        epoch = self.epoch + 1 if self.is_over(last_tick_ms) else self.epoch
        until_ms = max(self.until_ms, last_tick_ms + longest_gap_ms + duration_ms + longest_gap_ms)
        return replace(self, epoch=epoch, until_ms=until_ms)

    def expire(self, next_generation: int) -> Permit:
        """Return the permit after all rights of its agent were freed because it was over.

        next_generation: the first list without the freed units; older lists no longer bring a
        permit. The end becomes 0: no extension revives it, and the next is a new epoch.
        """
        fence_generation = max(self.fence_generation, next_generation)
        return replace(self, until_ms=0, fence_generation=fence_generation)


def manager_time(now_ms: int, last_tick_ms: int, longest_gap_ms: int) -> int:
    """Return the arrival time of a message in the time of ticks, from the receiver's clock.

    The result is not before the last tick, and at most the longest gap after it: a clock outside
    these bounds is wrong, or the next tick moves the stored times with it.
    """
    return min(max(now_ms, last_tick_ms), last_tick_ms + longest_gap_ms)


def extension_ms(last_tick_ms: int, now_ms: int, longest_gap_ms: int) -> int:
    """Return by how much every permit moves before a tick ends any; 0 when the clock ran well.

    longest_gap_ms: more than this between two ticks is an outage or a leap of the clock. The two
    cannot be told apart, so the whole gap counts as if no time had passed: an outage must cost
    no agent its work, and a leap must end no permit early. A clock that was set back takes the
    permits back with it, so that a take-over is not put off by as much.
    """
    if longest_gap_ms <= 0:
        raise RuleError("assignment.bad_gap", gap_ms=longest_gap_ms)
    gap_ms = now_ms - last_tick_ms
    return 0 if 0 <= gap_ms <= longest_gap_ms else gap_ms


def handover_ms(last_tick_ms: int, now_ms: int) -> int:
    """Return the shift of every permit at the first tick of another leader.

    The new leader's clock differs from the previous one by an unknown amount. So the time between
    the two ticks counts as none, in either direction: the remaining time of a permit is unchanged.
    However often leaders change, no permit becomes shorter.
    """
    return now_ms - last_tick_ms
