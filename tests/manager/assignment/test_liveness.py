"""How an agent is, for reasons that an administrator can act on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.assignment.liveness import (
    AgentFacts,
    Liveness,
    LivenessState,
    liveness,
    promised_contact,
)
from shared.messages import LANGUAGES, Message, render, row_of_message, template
from shared.messages.render import moment_text

MINUTE = 60_000
HOUR = 60 * MINUTE
NOW = 1_700_000_000_000


def seen(**changed: Any) -> Liveness:
    """Return the liveness at NOW of an agent that synced a minute ago and works."""
    facts: dict[str, Any] = {
        "kind": "sync",
        "last_contact_ms": NOW - MINUTE,
        "last_work_ms": NOW - 2 * MINUTE,
        "promised_ms": NOW + MINUTE,
        "grace_ms": 30 * MINUTE,
        "permit_until_ms": NOW + 2 * HOUR,
        "units_held": 12,
        "queue": 3400,
    }
    return liveness(AgentFacts(**(facts | changed)), NOW)


def test_working() -> None:
    """It calls, and fetched something a moment ago."""
    found = seen()
    assert found.state is LivenessState.WORKING
    assert found.reason == Message("fleet.state_working_queue", worked_ms=2 * MINUTE, urls=3400)
    assert str(found.reason) == "last fetched a page 2 min ago, 3,400 URLs waiting"
    assert not found.attention


def test_new() -> None:
    """An agent that never called is new, whatever else is known."""
    assert seen(last_contact_ms=None).state is LivenessState.NEW


def test_retired() -> None:
    """Retired is final, also for an agent that still calls."""
    assert seen(retired=True).state is LivenessState.RETIRED


@pytest.mark.parametrize(
    ("changed", "reason", "attention"),
    [
        ({"units_held": 0}, "it owns no unit", False),
        (
            {"units_held": 0, "probes_waiting": 37},
            "it has nothing to crawl, and 37 probes wait for their turn",
            False,
        ),
        ({"queue": 0}, "its queue is empty, and it has fetched nothing for 3 h", False),
        ({}, "it calls and has 3,400 URLs, but has fetched nothing for 3 h", True),
        ({"queue": None}, "it calls and holds 12 units, but has fetched nothing for 3 h", True),
        ({"last_work_ms": None}, "it calls and has 3,400 URLs, but has never fetched a page", True),
        (
            {"last_work_ms": None, "queue": None},
            "it calls and holds 12 units, but has never fetched a page",
            True,
        ),
        (
            {"last_work_ms": None, "queue": 0},
            "its queue is empty, and it has never fetched a page",
            False,
        ),
        (
            {"says": "disk full"},
            'it calls and has 3,400 URLs, but has fetched nothing for 3 h; it says "disk full"',
            False,
        ),
    ],
)
def test_idle_says_why(changed: dict[str, Any], reason: str, attention: bool) -> None:
    """Nothing to do, or something to do and not doing it: the second needs a person."""
    found = seen(**({"last_work_ms": NOW - 3 * HOUR} | changed))
    assert (found.state, str(found.reason), found.attention) == (
        LivenessState.IDLE,
        reason,
        attention,
    )


@pytest.mark.parametrize("worked_ms", [None, NOW - 3 * HOUR])
def test_who_took_its_list_a_moment_ago_works(worked_ms: int | None) -> None:
    """A round that begins marks nobody; from the window on, to fetch nothing needs a person."""
    fresh = {"last_work_ms": worked_ms, "work_since_ms": NOW - MINUTE}
    found = seen(**fresh)
    assert (found.state, found.attention) == (LivenessState.WORKING, False)
    assert str(found.reason) == "fetched its list of 12 units 1 min ago, no page yet"
    assert "its list of 1 unit 1 min ago" in str(seen(**fresh, units_held=1).reason)
    for window_ms, attention in ((30 * MINUTE, False), (15 * MINUTE, True)):
        late = fresh | {"work_since_ms": NOW - 20 * MINUTE}
        assert seen(**late, work_window_ms=window_ms).attention is attention
    assert seen(**fresh, units_held=0).state is LivenessState.IDLE


def test_who_says_that_all_is_done_is_idle() -> None:
    """However lately it fetched a page; with URLs waiting it is not believed."""
    done = {"says_state": "idle", "says": "nothing to do"}
    found = seen(**done, queue=0)
    assert (found.state, found.attention) == (LivenessState.IDLE, False)
    assert str(found.reason) == (
        'its queue is empty, and it has fetched nothing for 2 min; it says "nothing to do"'
    )
    assert seen(**done).state is LivenessState.WORKING


def test_what_an_agent_says_by_code_is_rendered_in_its_place() -> None:
    """Its own reason is a message within the message, also where it comes as rows have it."""
    own = Message("general.text", text="no permit")
    for says in (own, row_of_message(own)):
        found = seen(units_held=0, last_work_ms=None, says=says)
        assert found.reason == Message("fleet.says", what=Message("fleet.idle_no_units"), words=own)


def test_a_far_promise_is_sleep() -> None:
    """An agent that said it comes back in the night is asleep until then."""
    found = seen(last_contact_ms=NOW - 3 * HOUR, promised_ms=NOW + 9 * HOUR)
    assert found.state is LivenessState.ASLEEP
    assert found.until_ms == NOW + 9 * HOUR
    assert str(found.reason) == f"it sleeps until {moment_text(NOW + 9 * HOUR)}; last heard 3 h ago"


def test_a_nap_that_is_announced_is_sleep() -> None:
    """Its own word counts for short naps too."""
    assert seen(says_state="asleep").state is LivenessState.ASLEEP


@pytest.mark.parametrize(
    ("says_state", "state", "reason"),
    [
        ("paused", LivenessState.PAUSED, 'it fetches nothing for now; it says "by `x`; or so"'),
        ("draining", LivenessState.DRAINING, 'it accepts no more work; it says "by `x`; or so"'),
    ],
)
def test_who_is_held_does_not_work(says_state: str, state: LivenessState, reason: str) -> None:
    """However lately it fetched a page; that it is over its promise counts more."""
    held = {"says_state": says_state, "says": "by `x`; or so"}
    found = seen(**held)
    assert (found.state, str(found.reason), found.attention) == (state, reason, False)
    over = {"last_contact_ms": NOW - 20 * MINUTE, "promised_ms": NOW - 10 * MINUTE}
    assert seen(**held, **over).state is LivenessState.LATE


def test_late() -> None:
    """Over its promise, within grace or permit: late, with the time until others take over."""
    found = seen(
        last_contact_ms=NOW - 20 * MINUTE, promised_ms=NOW - 10 * MINUTE, permit_until_ms=0
    )
    assert found.state is LivenessState.LATE
    assert found.until_ms == NOW + 20 * MINUTE
    assert found.reason == Message(
        "fleet.state_late",
        silent_ms=20 * MINUTE,
        overdue_ms=10 * MINUTE,
        left_ms=20 * MINUTE,
    )
    assert found.attention


@pytest.mark.parametrize(
    ("over_ms", "grace_ms", "state"),
    [
        (50_000, 30 * MINUTE, LivenessState.WORKING),
        (61_000, 30 * MINUTE, LivenessState.LATE),
        (900, 4_000, LivenessState.WORKING),
        (1_001, 4_000, LivenessState.LATE),
    ],
)
def test_some_seconds_are_not_late(over_ms: int, grace_ms: int, state: LivenessState) -> None:
    """A call takes its way; where grace is short, so is that."""
    found = seen(last_contact_ms=NOW - 2 * MINUTE, promised_ms=NOW - over_ms, grace_ms=grace_ms)
    assert found.state is state


def test_nobody_is_lost_while_its_permit_is_valid() -> None:
    """Grace is over, the permit is not: it may still be fetching."""
    found = seen(last_contact_ms=NOW - 90 * MINUTE, promised_ms=NOW - 89 * MINUTE)
    assert found.state is LivenessState.LATE
    assert found.until_ms == NOW + 2 * HOUR


def test_lost() -> None:
    """Grace and permit are over."""
    found = seen(last_contact_ms=NOW - 5 * HOUR, promised_ms=NOW - 4 * HOUR, permit_until_ms=NOW)
    assert found.state is LivenessState.LOST
    assert found.reason == Message("fleet.state_lost", silent_ms=5 * HOUR, overdue_ms=4 * HOUR)
    assert found.attention


@pytest.mark.parametrize(
    ("silent_ms", "state"),
    [
        (30 * MINUTE, LivenessState.WORKING),
        (2 * HOUR, LivenessState.ASLEEP),
        (25 * HOUR, LivenessState.ASLEEP),
        (26 * HOUR + MINUTE, LivenessState.ASLEEP),
        (26 * HOUR + 2 * MINUTE, LivenessState.LATE),
        (27 * HOUR, LivenessState.LOST),
    ],
)
def test_a_plain_agent_sleeps_by_day(silent_ms: int, state: LivenessState) -> None:
    """Any message renews it for 26 hours; what it promised means nothing."""
    found = seen(
        kind="plain",
        last_contact_ms=NOW - silent_ms,
        last_work_ms=NOW - silent_ms,
        promised_ms=None,
        permit_until_ms=0,
        queue=None,
    )
    assert found.state is state


def test_a_promise_of_years_is_not_believed() -> None:
    """A wrong clock cannot hold units for ever."""
    assert promised_contact("sync", 0, 10**18) == 8 * 24 * HOUR
    assert promised_contact("sync", 5 * HOUR, 0) == 5 * HOUR
    assert promised_contact("sync", 0, None) == HOUR


maybe_ms = st.one_of(st.none(), st.integers(0, 2 * NOW))


@given(
    st.sampled_from(["sync", "plain"]),
    maybe_ms,
    maybe_ms,
    maybe_ms,
    st.integers(0, 2 * NOW),
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(0, 3)),
    st.sampled_from(["", "asleep", "paused", "draining", "a word of tomorrow"]),
)
def test_every_agent_has_one_state_and_a_reason(
    kind: Any,
    contact: int | None,
    work: int | None,
    promised: int | None,
    permit: int,
    units: int,
    queue: int | None,
    says: str,
) -> None:
    """Whatever the facts, there is a reason; lost only after the permit; limits lie ahead."""
    facts = AgentFacts(kind, contact, HOUR, work, promised, permit, units, queue, says_state=says)
    found = liveness(facts, NOW)
    assert template(found.reason.code) is not None
    for language in LANGUAGES:
        assert "{" not in render(found.reason, language)
    if found.state is LivenessState.LOST:
        assert permit <= NOW
    if found.until_ms is not None:
        assert found.until_ms >= NOW


@pytest.mark.parametrize(
    ("at_ms", "words"),
    [
        (0, "1970-01-01 00:00 UTC"),
        (NOW, "2023-11-14 22:13 UTC"),
        (-1, "1970-01-01 00:00 UTC"),
        (10**18, "9999-12-31 23:59 UTC"),
    ],
)
def test_moments_in_words(at_ms: int, words: str) -> None:
    """UTC to the minute; no number breaks it."""
    assert moment_text(at_ms) == words
