"""Liveness of an agent in words: it follows from work, not from sockets.

Invariant: every state comes with a sentence that says why, from facts that the manager has. An
agent is lost only when its promised contact plus grace has passed and its permit is over: only
then can nobody be fetching its units. What follows from a state is left to the tick.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Final, Literal

from manager.assignment.words import clock_time, spoken_duration
from shared.frozen import frozen
from shared.plurals import with_plurals

__all__ = ["AgentFacts", "AgentKind", "Liveness", "LivenessState", "liveness", "promised_contact"]

AgentKind = Literal["sync", "plain"]

HOUR_MS: Final = 3_600_000
PLAIN_RENEWAL_MS: Final = 26 * HOUR_MS
"""A plain agent sleeps by day and calls once a night; two hours of tolerance."""
PLAIN_AWAKE_MS: Final = 90 * 60_000
"""A plain agent that is awake asks for RESTART every hour; silent for longer, it sleeps."""
LONGEST_POLL_MS: Final = HOUR_MS
"""The manager asks nobody to call less often than this; a later promise is sleep."""
TARDY_MS: Final = 60_000
"""A call that comes some seconds after its time is no news: at most a quarter of the grace."""
LONGEST_PROMISE_MS: Final = 8 * 24 * HOUR_MS
"""An agent may work at week-ends only; who promises more than a week is not believed."""


class LivenessState(StrEnum):
    """The words of the agents' table."""

    NEW = "new"
    WORKING = "working"
    IDLE = "idle"
    PAUSED = "paused"
    DRAINING = "draining"
    ASLEEP = "asleep"
    LATE = "late"
    LOST = "lost"
    LEFT = "left"
    RETIRED = "retired"


_HELD: Final = {
    "paused": (LivenessState.PAUSED, "it fetches nothing for now"),
    "draining": (LivenessState.DRAINING, "it takes no more work"),
}
"""What counts before the pages that it fetched a moment ago."""


@frozen
class AgentFacts:
    """Facts about one agent; times are the manager's, None: never.

    last_work_ms: when it last fetched something, from counters or logs. promised_ms: when it
    means to call again. units_held: whose right it has. work_since_ms: since when a list of it
    names one of them. probes_waiting: that are ordered of it and not granted yet. queue: URLs it
    has waiting, None where it cannot say. left: by M5, and it did not come back. says_state, says:
    its own words, as the sync has them.
    """

    kind: AgentKind
    last_contact_ms: int | None
    grace_ms: int
    last_work_ms: int | None = None
    promised_ms: int | None = None
    permit_until_ms: int = 0
    units_held: int = 0
    work_since_ms: int | None = None
    queue: int | None = None
    retired: bool = False
    left: bool = False
    says_state: str = ""
    says: str = ""
    work_window_ms: int = 15 * 60_000
    probes_waiting: int = 0


@frozen
class Liveness:
    """state, why, and when it ends by itself.

    words: makes the sentence that says why; of most agents nobody reads it. until_ms: asleep: when
    it is expected; late: when it counts as lost; else None. attention: somebody should look.
    """

    state: LivenessState
    words: Callable[[], str]
    until_ms: int | None = None
    attention: bool = False

    @property
    def reason(self) -> str:
        """Return the sentence that says why."""
        return self.words()


def promised_contact(
    kind: AgentKind,
    last_contact_ms: int,
    promised_ms: int | None,
    plain_renewal_ms: int = PLAIN_RENEWAL_MS,
) -> int:
    """Return when an agent is expected at the latest, before grace.

    A plain agent promises nothing: any message renews it for `plain_renewal_ms`. A promise is
    believed for eight days at most, so that a wrong clock cannot hold units for ever.
    """
    if kind == "plain":
        return last_contact_ms + plain_renewal_ms
    if promised_ms is None:
        return last_contact_ms + LONGEST_POLL_MS
    return min(max(promised_ms, last_contact_ms), last_contact_ms + LONGEST_PROMISE_MS)


def liveness(facts: AgentFacts, now_ms: int, plain_renewal_ms: int = PLAIN_RENEWAL_MS) -> Liveness:
    """Return how an agent is at a moment, and why."""
    if facts.retired:
        return Liveness(LivenessState.RETIRED, _retired_words)
    if facts.left:
        return Liveness(LivenessState.LEFT, _left_words)
    contact_ms = facts.last_contact_ms
    if contact_ms is None:
        return Liveness(LivenessState.NEW, _new_words)
    due_ms = promised_contact(facts.kind, contact_ms, facts.promised_ms, plain_renewal_ms)
    if now_ms > due_ms + min(TARDY_MS, facts.grace_ms // 4):
        return _overdue(facts, contact_ms, due_ms, now_ms)
    if _sleeps(facts, contact_ms, due_ms, now_ms):
        words = partial(_asleep_words, facts.kind, contact_ms, due_ms, now_ms)
        return Liveness(LivenessState.ASLEEP, words, until_ms=max(due_ms, now_ms))
    if facts.says_state in _HELD:
        state, why = _HELD[facts.says_state]
        return Liveness(state, partial(_held_words, why, facts))
    return _awake(facts, now_ms)


def _sleeps(facts: AgentFacts, contact_ms: int, due_ms: int, now_ms: int) -> bool:
    if facts.kind == "plain":
        return now_ms - contact_ms > PLAIN_AWAKE_MS
    return facts.says_state == "asleep" or due_ms - contact_ms > LONGEST_POLL_MS


def _overdue(facts: AgentFacts, contact_ms: int, due_ms: int, now_ms: int) -> Liveness:
    """Return late or lost, for an agent that is over the contact it promised."""
    lost_ms = max(due_ms + facts.grace_ms, facts.permit_until_ms)
    words = partial(_overdue_words, contact_ms, due_ms, lost_ms, now_ms)
    if now_ms >= lost_ms:
        return Liveness(LivenessState.LOST, words, None, True)
    return Liveness(LivenessState.LATE, words, until_ms=lost_ms, attention=True)


def _awake(facts: AgentFacts, now_ms: int) -> Liveness:
    """Return working or idle, for an agent that calls as it promised."""
    # A plain agent's work is seen in its logs only, and those come once a night.
    window_ms = PLAIN_RENEWAL_MS if facts.kind == "plain" else facts.work_window_ms
    worked_ms = facts.last_work_ms
    done = facts.says_state == "idle" and not facts.queue
    if worked_ms is not None and now_ms - worked_ms <= window_ms and not done:
        return Liveness(LivenessState.WORKING, partial(_work_words, facts.queue, worked_ms, now_ms))
    could = facts.units_held > 0 and facts.queue != 0 and not facts.says and not done
    since_ms = facts.work_since_ms
    if could and since_ms is not None and now_ms - since_ms <= window_ms:
        return Liveness(LivenessState.WORKING, partial(_fresh_words, facts, now_ms - since_ms))
    return Liveness(LivenessState.IDLE, partial(_idle_words, facts, now_ms), attention=could)


def _retired_words() -> str:
    return "it was retired and gets no work any more"


def _left_words() -> str:
    return "it left by M5 and gets no work; /servlets/subscribe brings it back"


def _new_words() -> str:
    return "it has never called"


def _asleep_words(kind: AgentKind, contact_ms: int, due_ms: int, now_ms: int) -> str:
    by = clock_time(due_ms)
    why = f"it sleeps until {by}" if kind == "sync" else f"it calls once a night, by {by}"
    return f"{why}; {_silent(contact_ms, now_ms)}"


def _held_words(why: str, facts: AgentFacts) -> str:
    return f"{why}{_own_words(facts)}"


def _overdue_words(contact_ms: int, due_ms: int, lost_ms: int, now_ms: int) -> str:
    silent = _silent(contact_ms, now_ms)
    over = f"{silent}; it was expected {spoken_duration(now_ms - due_ms)} ago"
    if now_ms >= lost_ms:
        return f"{over}, and its permit is over: others take its units"
    return f"{over}; others take its units in {spoken_duration(lost_ms - now_ms)}"


def _silent(contact_ms: int, now_ms: int) -> str:
    return f"last heard {spoken_duration(now_ms - contact_ms)} ago"


def _work_words(queue: int | None, worked_ms: int, now_ms: int) -> str:
    waiting = with_plurals(f", {queue:,} URLs waiting") if queue else ""
    return f"last fetched a page {spoken_duration(now_ms - worked_ms)} ago{waiting}"


def _fresh_words(facts: AgentFacts, list_ms: int) -> str:
    held = with_plurals(f"{facts.units_held:,} units")
    return f"took its list of {held} {spoken_duration(list_ms)} ago, no page yet"


def _idle_words(facts: AgentFacts, now_ms: int) -> str:
    says, worked_ms = _own_words(facts), facts.last_work_ms
    if not facts.units_held:
        if facts.probes_waiting:
            waiting = with_plurals(f"{facts.probes_waiting:,} probes wait for their turn")
            return with_plurals(f"it has nothing to crawl, and {waiting}{says}")
        return f"it has no unit to fetch{says}"
    fetched = (
        "never fetched a page"
        if worked_ms is None
        else f"fetched nothing for {spoken_duration(now_ms - worked_ms)}"
    )
    if facts.queue == 0:
        return f"its queue is empty and it {fetched}{says}"
    held = (
        with_plurals(f"holds {facts.units_held:,} units")
        if facts.queue is None
        else with_plurals(f"has {facts.queue:,} URLs")
    )
    return f"it calls, {held}, but {fetched}{says}"


def _own_words(facts: AgentFacts) -> str:
    """Return what an agent says of itself as one clause, or nothing."""
    words = facts.says.replace("; ", ", ")
    return f'; it says "{words}"' if words else ""
