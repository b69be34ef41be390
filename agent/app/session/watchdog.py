"""Watchdog: progress deadlines of the agent's components.

An agent that lives and does nothing is treated as hung: the work done so far is noted for each
component that has something under way. One that is busy and does no more for longer than its limit
is stuck. Then the process no longer gives a sign of life (`control.lock`, systemd's watchdog), and
the starter of agents replaces it.
Invariant: time counts only while notes come: after a machine slept, or a disk held everything up,
a component has its whole limit again.
The limits are what no slow disk, network or manager takes: a process that is ended by mistake costs
a night's connections, and one that is stuck waits for hours without harm, as it fetches nothing.
"""

from __future__ import annotations

from typing import Final

from agent.app.manager_link.conversation import Conversation
from agent.app.manager_link.fetch_permission import Permission
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.link.poller import Poller
from shared.messages import Message

__all__ = ["ROUND_GAP_S", "ProgressWatch", "Watchdog"]

TURN_S: Final = 300.0  # the crawl's loop turns twice a second at least, while others run at all
PAGE_S: Final = 600.0  # for pages that wait for workers, behind the last answer
CALL_S: Final = 4 * 3600.0  # a list of ten million units on a thin line
ROUND_GAP_S: Final = 10.0  # a round comes each second; a longer gap is no component's fault


class ProgressWatch:
    """Watched components, by name: `crawl`, `requests`, `calls`."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, float]] = {}  # work done, and since when it was so much
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
        done_before, since_s = self._seen.get(name, (None, 0.0))
        if done_before != done or not busy:
            self._seen[name] = (done, self._noted_s)
            self._stuck.pop(name, None)
        elif self._noted_s - since_s >= limit_s:
            self._stuck[name] = Message(f"agent.stuck_{name}", limit_s=limit_s)

    @property
    def stuck(self) -> Message | None:
        """Return what makes no progress; None: all does."""
        found = tuple(self._stuck.values())
        if len(found) < 2:
            return found[0] if found else None
        return Message("agent.stuck", parts=found)


class Watchdog:
    """Measures the progress of the components each second."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        permission: Permission,
        conversation: Conversation,
        poller: Poller,
    ) -> None:
        self._runtime = runtime
        self._session = session
        self._permission = permission
        self._conversation = conversation
        self._poller = poller
        self._progress = ProgressWatch()
        self._logged: Message | None = None

    def check(self) -> Message | None:
        """Return the component that makes no progress; None: all do."""
        clock, session, progress = self._runtime.clock, self._session, self._progress
        progress.begin_round(clock.monotonic_s())
        progress.note("crawl", done=session.loop.turns, busy=True, limit_s=TURN_S)
        counted = session.reports.counters()
        progress.note(
            "requests",
            # At a low rate of the site's own a page may take longer than any deadline.
            done=counted.requests + counted.pages + session.adapters.fetcher.passed_bytes,
            busy=session.crawl.at_work > 0 and not (session.loop.paused or self._permission.disk),
            limit_s=2 * session.settings.limits.total_s + PAGE_S,
        )
        progress.note(
            "calls",
            done=self._conversation.calls,
            busy=clock.boottime_s() >= self._poller.next_s,
            limit_s=CALL_S,
        )
        stuck = progress.stuck
        if stuck is not None and stuck != self._logged:
            self._runtime.log_line(f"this process is stuck and stops its heartbeat: {stuck}")
        self._logged = stuck
        return stuck
