"""Progress watch: an agent that lives and does nothing is treated as hung.

Each part that has something under way is looked at again and again: how much it has done so far.
One that is busy and does no more for longer than its limit is stuck. Then the process no longer
gives a sign of life (`control.lock`, systemd's watchdog), and the starter of agents replaces it.
Invariant: time counts only while the process itself is looking: after a machine slept, or a disk
held everything up, a part has its whole limit again.
"""

from __future__ import annotations

from typing import Final

from shared.frozen import frozen
from shared.messages import Message

__all__ = ["LOOK_GAP_S", "Progress"]

LOOK_GAP_S: Final = 10.0  # a look comes each second; a longer gap is no part's fault


@frozen
class _Seen:
    done: int
    since_s: float


class Progress:
    """Watched components, by name: `crawl`, `requests`, `calls`."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._stuck: dict[str, Message] = {}
        self._looked_s = 0.0

    def begin(self, now_s: float) -> None:
        """Begin a look; now_s: monotonic."""
        gap_s = now_s - self._looked_s
        self._looked_s = now_s
        if gap_s > LOOK_GAP_S:
            self._seen.clear()
            self._stuck.clear()

    def look(self, name: str, *, done: int, busy: bool, limit_s: float) -> None:
        """Look at a part. done: grows whenever it gets on. busy: whether it has to."""
        seen = self._seen.get(name)
        if seen is None or seen.done != done or not busy:
            self._seen[name] = _Seen(done, self._looked_s)
            self._stuck.pop(name, None)
        elif self._looked_s - seen.since_s >= limit_s:
            self._stuck[name] = Message(f"agent.stuck_{name}", limit_s=limit_s)

    @property
    def stuck(self) -> Message | None:
        """Return what makes no progress; None: all does."""
        found = tuple(self._stuck.values())
        if len(found) < 2:
            return found[0] if found else None
        return Message("agent.stuck", parts=found)
