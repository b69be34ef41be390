"""Use of permits: they go to the gate, unless another copy of this home may be at work.

A home that finds itself in another place was moved or copied. Which, it cannot know: what it was
copied from may have a permit. The manager refuses that one from now on, so its permit was given
before this process was first answered, and is over one permit later; until then nothing is
fetched here. If it is this one that is refused, the other is at work, and the wait begins again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from agent.app.manager_link.fetch_permission import Permission
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.startup.settings_mapping import permit_margin_s
from agent.link.actions import GrantPermit, PermitAction
from agent.link.link_memory import Memory
from shared.archive.errors import DiskFullError
from shared.messages import Message

__all__ = ["MovedHome", "PermitUse", "is_elsewhere"]


def is_elsewhere(before: str, now: str) -> bool:
    """Return whether the same key was used in another place. Each: a key's hash, a space, a place.

    With another key it is another agent, of which no copy is at work.
    """
    return before != now and before.partition(" ")[0] == now.partition(" ")[0]


class MovedHome:
    """The wait of one process before it uses permits. Times are seconds of CLOCK_BOOTTIME."""

    def __init__(self, *, is_moved: bool) -> None:
        """is_moved: the home was in another place when an agent last worked in it."""
        self.is_waiting = is_moved  # permits are not used yet
        self._until_s: float | None = None

    def wait_before_use(self, permit: GrantPermit, now_s: float) -> float:
        """Return for how many seconds more no permit may be used; 0: this one may be."""
        if not self.is_waiting:
            return 0.0
        if self._until_s is None:
            self._until_s = permit.sent_boottime_s + permit.duration_s
        left_s = self._until_s - now_s
        self.is_waiting = left_s > 0
        return max(0.0, left_s)

    def restart_wait(self) -> None:
        """Take note that the manager takes this one for the copy."""
        self._until_s = None


class PermitUse:
    """Carries the poller's permit actions out."""

    def __init__(
        self,
        runtime: Runtime,
        permission: Permission,
        session: CrawlSession,
        memory: Memory,
        place: str,
    ) -> None:
        """place: the key's hash and the place of the home. The gate has the session's margin."""
        self._runtime = runtime
        self._permission = permission
        self._session = session
        self._memory = memory
        self._place = place
        self._margin_s = permit_margin_s(session.settings)
        self._moved = MovedHome(is_moved=is_elsewhere(memory.kept.place, place))

    def carry_out(self, actions: Iterable[PermitAction]) -> None:
        """Grant or revoke permits, one after the other."""
        for action in actions:
            if isinstance(action, GrantPermit):
                self._grant(action)
            else:
                self._permission.gate.revoke()
                self._permission.no_permit = action.reason
                self._runtime.log_line(f"permit ended: {action.reason}")

    def note_conflict(self) -> None:
        """Take note that the manager takes this process for the copy of another."""
        self._moved.restart_wait()

    def _grant(self, permit: GrantPermit) -> None:
        permission, gate = self._permission, self._permission.gate
        wait_s = self._moved.wait_before_use(permit, self._runtime.clock.boottime_s())
        if wait_s:
            permission.no_permit = Message("agent.home_moved", wait_s=round(wait_s))
            return
        with contextlib.suppress(DiskFullError):  # the next process waits once more, then
            self._memory.remember_location(self._place)
        had_permit = gate.may_fetch()
        # The gate's margin holds the site's interval; one that the manager asked for is longer.
        wider_s = permit_margin_s(self._session.settings) - self._margin_s
        gate.grant(permit.epoch, permit.duration_s - wider_s, permit.sent_boottime_s)
        left_s = gate.remaining_s()
        if left_s > 0 and not had_permit:
            self._runtime.log_line(f"permit of {left_s:.0f} s, epoch {permit.epoch}")
        if left_s <= 0:
            permission.no_permit = Message("agent.permit_too_short", duration_s=permit.duration_s)
        else:
            permission.no_permit = Message("agent.permit_over")
