"""Liveness of an agent: it follows from work, not from sockets.

Invariant: every state comes with a message that says why, from facts that the manager has. An
agent is lost only when its promised contact plus grace has passed and its permit is over: only
then is its units' fetching certain to have ended. The tick acts on the states.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Final, Literal

from shared.frozen import frozen
from shared.messages import Message, message_of_row

__all__ = [
    "HELD_STATES",
    "AgentFacts",
    "AgentKind",
    "Liveness",
    "LivenessState",
    "liveness",
    "promised_contact",
]

AgentKind = Literal["sync", "plain"]

HOUR_MS: Final = 3_600_000
PLAIN_RENEWAL_MS: Final = 26 * HOUR_MS
"""A plain agent sleeps by day and calls once a night; two hours of tolerance."""
PLAIN_AWAKE_MS: Final = 90 * 60_000
"""A plain agent that is awake asks for RESTART every hour; silent for longer, it sleeps."""
LONGEST_POLL_MS: Final = HOUR_MS
"""The longest interval between calls that the manager asks for; a later promise is sleep."""
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
    "paused": (LivenessState.PAUSED, Message("fleet.state_paused")),
    "draining": (LivenessState.DRAINING, Message("fleet.state_draining")),
}
"""What counts before the pages that it fetched a moment ago."""

HELD_STATES: Final = frozenset(_HELD)
"""States of an agent that fetches nothing until a person resumes it."""
_RETIRED: Final = partial(Message, "fleet.state_retired")
_LEFT: Final = partial(Message, "fleet.state_left")
_NEW: Final = partial(Message, "fleet.new_agent")


@frozen
class AgentFacts:
    """Facts about one agent; times are the manager's, None: never.

    last_work_ms: when it last fetched something, from counters or logs. promised_ms: when it
    means to call again. units_held: whose right it has. work_since_ms: since when a list of it
    names one of them. probes_waiting: that are ordered of it and not granted yet. queue: URLs it
    has waiting, None where it cannot say. left: by M5, and it did not come back. says_state, says:
    its own words, as the sync has them: a message, or its form in rows; empty: none.
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
    says: Message | str | None = None
    work_window_ms: int = 15 * 60_000
    probes_waiting: int = 0


@frozen
class Liveness:
    """state, why, and when it ends by itself.

    make_reason: makes the reason, which most callers do not read. until_ms: asleep: when it is
    expected; late: when it counts as lost; else None. attention: an administrator should look.
    """

    state: LivenessState
    make_reason: Callable[[], Message]
    until_ms: int | None = None
    attention: bool = False

    @property
    def reason(self) -> Message:
        """Return why it is in this state."""
        return self.make_reason()


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
        return Liveness(LivenessState.RETIRED, _RETIRED)
    if facts.left:
        return Liveness(LivenessState.LEFT, _LEFT)
    contact_ms = facts.last_contact_ms
    if contact_ms is None:
        return Liveness(LivenessState.NEW, _NEW)
    due_ms = promised_contact(facts.kind, contact_ms, facts.promised_ms, plain_renewal_ms)
    if now_ms > due_ms + min(TARDY_MS, facts.grace_ms // 4):
        return _overdue(facts, contact_ms, due_ms, now_ms)
    if _sleeps(facts, contact_ms, due_ms, now_ms):
        make = partial(_asleep_reason, facts.kind, contact_ms, due_ms, now_ms)
        return Liveness(LivenessState.ASLEEP, make, until_ms=max(due_ms, now_ms))
    if facts.says_state in _HELD:
        state, why = _HELD[facts.says_state]
        return Liveness(state, partial(_with_own_words, why, facts))
    return _awake(facts, now_ms)


def _sleeps(facts: AgentFacts, contact_ms: int, due_ms: int, now_ms: int) -> bool:
    if facts.kind == "plain":
        return now_ms - contact_ms > PLAIN_AWAKE_MS
    return facts.says_state == "asleep" or due_ms - contact_ms > LONGEST_POLL_MS


def _overdue(facts: AgentFacts, contact_ms: int, due_ms: int, now_ms: int) -> Liveness:
    """Return late or lost, for an agent that is over the contact it promised."""
    lost_ms = max(due_ms + facts.grace_ms, facts.permit_until_ms)
    make = partial(_overdue_reason, contact_ms, due_ms, lost_ms, now_ms)
    if now_ms >= lost_ms:
        return Liveness(LivenessState.LOST, make, None, True)
    return Liveness(LivenessState.LATE, make, until_ms=lost_ms, attention=True)


def _awake(facts: AgentFacts, now_ms: int) -> Liveness:
    """Return working or idle, for an agent that calls as it promised."""
    # A plain agent's work is seen in its logs only, and those come once a night.
    window_ms = PLAIN_RENEWAL_MS if facts.kind == "plain" else facts.work_window_ms
    worked_ms = facts.last_work_ms
    done = facts.says_state == "idle" and not facts.queue
    if worked_ms is not None and now_ms - worked_ms <= window_ms and not done:
        return Liveness(
            LivenessState.WORKING, partial(_work_reason, facts.queue, worked_ms, now_ms)
        )
    could = facts.units_held > 0 and facts.queue != 0 and not facts.says and not done
    since_ms = facts.work_since_ms
    if could and since_ms is not None and now_ms - since_ms <= window_ms:
        return Liveness(LivenessState.WORKING, partial(_fresh_reason, facts, now_ms - since_ms))
    return Liveness(LivenessState.IDLE, partial(_idle_reason, facts, now_ms), attention=could)


def _asleep_reason(kind: AgentKind, contact_ms: int, due_ms: int, now_ms: int) -> Message:
    silent_ms = _past(contact_ms, now_ms)
    if kind == "plain":
        return Message("fleet.state_plain_asleep", due_ms=due_ms, silent_ms=silent_ms)
    return Message("fleet.state_asleep", due_ms=due_ms, silent_ms=silent_ms)


def _overdue_reason(contact_ms: int, due_ms: int, lost_ms: int, now_ms: int) -> Message:
    silent_ms, overdue_ms = _past(contact_ms, now_ms), _past(due_ms, now_ms)
    if now_ms >= lost_ms:
        return Message("fleet.state_lost", silent_ms=silent_ms, overdue_ms=overdue_ms)
    return Message(
        "fleet.state_late", silent_ms=silent_ms, overdue_ms=overdue_ms, left_ms=lost_ms - now_ms
    )


def _work_reason(queue: int | None, worked_ms: int, now_ms: int) -> Message:
    past_ms = _past(worked_ms, now_ms)
    if queue:
        return Message("fleet.state_working_queue", worked_ms=past_ms, urls=queue)
    return Message("fleet.state_working", worked_ms=past_ms)


def _fresh_reason(facts: AgentFacts, list_ms: int) -> Message:
    return Message("fleet.state_list_fetched", units=facts.units_held, list_ms=max(0, list_ms))


def _idle_reason(facts: AgentFacts, now_ms: int) -> Message:
    return _with_own_words(_idleness(facts, now_ms), facts)


def _idleness(facts: AgentFacts, now_ms: int) -> Message:
    queue, units = facts.queue, facts.units_held
    if not units:
        if facts.probes_waiting:
            return Message("fleet.idle_probes_wait", probes=facts.probes_waiting)
        return Message("fleet.idle_no_units")
    if facts.last_work_ms is None:
        if queue is None:
            return Message("fleet.idle_units_never", units=units)
        if queue:
            return Message("fleet.idle_urls_never", urls=queue)
        return Message("fleet.idle_empty_never")
    idle_ms = _past(facts.last_work_ms, now_ms)
    if queue is None:
        return Message("fleet.idle_units_since", units=units, idle_ms=idle_ms)
    if queue:
        return Message("fleet.idle_urls_since", urls=queue, idle_ms=idle_ms)
    return Message("fleet.idle_empty_since", idle_ms=idle_ms)


def _with_own_words(why: Message, facts: AgentFacts) -> Message:
    """Return a reason with what the agent says of itself, where it says anything."""
    says = message_of_row(facts.says) if isinstance(facts.says, str) else facts.says
    return why if says is None else Message("fleet.says", what=why, words=says)


def _past(at_ms: int, now_ms: int) -> int:
    return max(0, now_ms - at_ms)
