"""Detection of another copy of this home that may be running with the same name and key.

A home that finds itself in another place was moved or copied. Which, it cannot know: what it was
copied from may have a permit. The manager refuses that one from now on, so its permit was given
before this process was first answered, and is over one permit later; until then nothing is
fetched here. If it is this one that is refused, the other is at work, and the wait begins again.
"""

from __future__ import annotations

from agent.link.actions import GrantPermit

__all__ = ["MovedHome", "is_elsewhere"]


def is_elsewhere(before: str, now: str) -> bool:
    """Return whether the same key was used in another place. Each: a key's hash, a space, a place.

    With another key it is another agent, of which no copy is at work.
    """
    return before != now and before.partition(" ")[0] == now.partition(" ")[0]


class MovedHome:
    """The wait of one process before it uses permits. Times are seconds of CLOCK_BOOTTIME."""

    def __init__(self, *, is_moved: bool) -> None:
        """is_moved: the home was in another place when an agent last worked in it."""
        self._is_waiting = is_moved
        self._until_s: float | None = None

    @property
    def is_waiting(self) -> bool:
        """Return whether permits are not used yet."""
        return self._is_waiting

    def wait_before_use(self, permit: GrantPermit, now_s: float) -> float:
        """Return for how many seconds more no permit may be used; 0: this one may be."""
        if not self._is_waiting:
            return 0.0
        if self._until_s is None:
            self._until_s = permit.sent_boottime_s + permit.duration_s
        left_s = self._until_s - now_s
        self._is_waiting = left_s > 0
        return max(0.0, left_s)

    def restart_wait(self) -> None:
        """Take note that the manager takes this one for the copy."""
        self._until_s = None
