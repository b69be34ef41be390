"""Use of permits: they go to the gate, unless another copy of this home may be at work.

A home that finds itself in another place was moved or copied. Which, it cannot know: what it was
copied from may have a permit. The manager refuses that one from now on, so its permit was given
before this process was first answered, and is over one permit later; until then nothing is
fetched here. If it is this one that is refused, the other is at work, and the wait begins again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path

from agent.app.manager_link.fetch_permission import Permission
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.app.startup.settings_mapping import permit_margin_s
from agent.link.actions import GrantPermit, PermitAction
from agent.link.keys import Identity
from agent.link.link_memory import Memory
from shared.archive.errors import DiskFullError
from shared.messages import Message
from shared.wire.names import hash_of_key

__all__ = ["MovedHome", "PermitUse", "home_location_of", "is_elsewhere"]


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
        identity: Identity,
    ) -> None:
        """The gate has the session's margin."""
        self._runtime = runtime
        self._permission = permission
        self._session = session
        self._memory = memory
        self._place = f"{hash_of_key(identity.key)} {home_location_of(runtime.home.path)}"
        self._margin_s = permit_margin_s(session.settings)
        self._moved = MovedHome(is_moved=is_elsewhere(memory.kept.place, self._place))

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


def home_location_of(home: Path, root: Path = Path("/")) -> str:
    """Return what tells this place from others. root: of the machine's files, for tests.

    What is hashed is only compared here, and never leaves the home: the machine's id, the addresses
    of its network cards (machines that were cloned from one image share the id), the path and the
    folder itself (a volume may be mounted under the same path).
    """
    parts = [
        _text(root / "etc" / "machine-id"),
        *sorted(_text(card / "address") for card in _cards(root / "sys" / "class" / "net")),
        str(home.resolve()),
        str(home.stat().st_ino),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _cards(folder: Path) -> list[Path]:
    """Return cards of metal, or of a virtual machine: others get random addresses at each start."""
    try:
        return [card for card in folder.iterdir() if (card / "device").exists()]
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
