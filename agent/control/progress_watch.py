"""Progress watch: an agent that lives and does nothing is treated as hung.

The work done so far is noted for each part that has something under way. One that is busy and
does no more for longer than its limit is stuck. Then the process no longer gives a sign of life
(`control.lock`, systemd's watchdog), and the starter of agents replaces it.
Invariant: time counts only while notes come: after a machine slept, or a disk held everything up,
a part has its whole limit again.
"""

from __future__ import annotations

from typing import Final

from shared.frozen import frozen
from shared.messages import Message

__all__ = ["ROUND_GAP_S", "ProgressWatch"]

ROUND_GAP_S: Final = 10.0  # a round comes each second; a longer gap is no part's fault


@frozen
class _Seen:
    done: int
    since_s: float


class ProgressWatch:
    """Watched components, by name: `crawl`, `requests`, `calls`."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._stuck: dict[str, Message] = {}
        self._noted_s = 0.0

    def begin_round(self, now_s: float) -> None:
        """Begin a round of notes; now_s: monotonic."""
        gap_s = now_s - self._noted_s
        self._noted_s = now_s
        if gap_s > ROUND_GAP_S:
            self._seen.clear()
            self._stuck.clear()

    def note(self, name: str, *, done: int, busy: bool, limit_s: float) -> None:
        """Note the progress of a part. done: grows with it. busy: whether it has to grow."""
        seen = self._seen.get(name)
        if seen is None or seen.done != done or not busy:
            self._seen[name] = _Seen(done, self._noted_s)
            self._stuck.pop(name, None)
        elif self._noted_s - seen.since_s >= limit_s:
            self._stuck[name] = Message(f"agent.stuck_{name}", limit_s=limit_s)

    @property
    def stuck(self) -> Message | None:
        """Return what makes no progress; None: all does."""
        found = tuple(self._stuck.values())
        if len(found) < 2:
            return found[0] if found else None
        return Message("agent.stuck", parts=found)
