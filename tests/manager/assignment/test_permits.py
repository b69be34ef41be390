"""How long a permit lasts, on both sides, and what moves it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.assignment.errors import RuleError
from manager.assignment.permits import Permit, extension_ms, handover_ms, manager_time
from tests.manager.assignment.rights_model import end_at_agent

HOUR = 3_600_000
GAP = 60_000


def test_a_permit_is_over_at_its_end() -> None:
    """From its end on, not before."""
    permit = Permit(until_ms=1000)
    assert not permit.is_over(999)
    assert permit.is_over(1000)


def test_a_first_permit_begins_an_epoch() -> None:
    """A new agent gets epoch 1, for as long as it is told and two gaps."""
    assert Permit().renew(0, 5000, 2 * HOUR, GAP) == Permit(1, 5000 + 2 * HOUR + 2 * GAP, 0)


def test_renewing_keeps_the_epoch() -> None:
    """While a permit is valid it goes on; once it was over, the next is another."""
    first = Permit(4, 10_000, 0)
    assert first.renew(7, 9_999, 1000, 0) == Permit(4, 10_999, 0)
    assert first.renew(7, 10_000, 1000, 0) == Permit(5, 11_000, 0)


def test_renewing_never_shortens() -> None:
    """An agent may still count on what it was told before."""
    assert Permit(1, 90_000, 0).renew(1, 10, 1000, 0) == Permit(1, 90_000, 0)


def test_an_agent_that_was_written_off_needs_a_new_list() -> None:
    """After expiry no list older than the fence brings a permit."""
    over = Permit(3, 1000, 0).expire(next_generation=9)
    assert over.renew(8, 2000, HOUR, GAP) is None
    assert over.renew(9, 2000, HOUR, GAP) == Permit(4, 2000 + HOUR + 2 * GAP, 9)


def test_an_expired_permit_is_not_revived_by_an_outage() -> None:
    """What moves valid permits leaves one over whose rights were given away."""
    over = Permit(3, 10 * HOUR, 0).expire(next_generation=9)
    moved = replace(over, until_ms=over.until_ms + extension_ms(11 * HOUR, 35 * HOUR, GAP))
    assert moved.is_over(35 * HOUR)
    renewed = moved.renew(9, 35 * HOUR, HOUR, GAP)
    assert renewed is not None
    assert renewed.epoch == 4


@given(
    left_ms=st.integers(0, 2 * HOUR),
    skews_ms=st.lists(st.integers(-HOUR, HOUR), max_size=20),
    between_ms=st.integers(0, HOUR),
)
def test_no_change_of_leader_shortens_a_permit(
    left_ms: int, skews_ms: list[int], between_ms: int
) -> None:
    """Clocks of managers differ; what was left at one's last tick is left at the next one's."""
    last_ms = 10 * HOUR
    permit = Permit(1, last_ms + left_ms, 0)
    for skew_ms in skews_ms:
        now_ms = last_ms + between_ms + skew_ms
        permit = replace(permit, until_ms=permit.until_ms + handover_ms(last_ms, now_ms))
        assert permit.until_ms - now_ms == left_ms
        last_ms = now_ms


def test_a_fence_never_falls() -> None:
    """A smaller generation does not open what a greater one closed."""
    assert Permit(1, 0, 9).expire(4).fence_generation == 9


def test_the_agent_ends_first() -> None:
    """Counted from sending, a deadline and an interval earlier: over before the manager's.

    It was sent as long after the last tick as may be, and the manager's clock steps unseen.
    """
    last_tick_ms, sent_ms, step_ms = 1000, 1000 + GAP, GAP
    mine = end_at_agent(sent_ms, HOUR, deadline_ms=60_000, interval_ms=20_000)
    theirs = Permit().renew(0, last_tick_ms, HOUR, GAP)
    assert mine == sent_ms + HOUR - 80_000
    assert theirs is not None
    assert mine + 60_000 + 20_000 + step_ms <= theirs.until_ms


@pytest.mark.parametrize(
    ("now_ms", "moved_ms"),
    [
        (1_000_000, 0),
        (1_005_000, 0),
        (1_060_000, 0),
        (1_060_001, 60_001),
        (4_600_000, 3_600_000),
        (999_999, -1),
        (400_000, -600_000),
    ],
)
def test_how_far_permits_move(now_ms: int, moved_ms: int) -> None:
    """Not at all in usual running; by the whole gap after an outage, a leap or a set-back."""
    assert extension_ms(1_000_000, now_ms, 60_000) == moved_ms


def test_a_gap_of_nothing_is_refused() -> None:
    """With no tolerance every tick would extend every permit for ever."""
    with pytest.raises(RuleError, match="longest_gap_ms = 0"):
        extension_ms(0, 1, 0)


def test_an_outage_costs_no_agent_its_permit() -> None:
    """The manager was away for a day: after the extension a permit has what it had left before."""
    permit = Permit(1, 10 * HOUR, 0)
    last_ms, now_ms = 9 * HOUR, 33 * HOUR
    assert permit.is_over(now_ms)
    moved = replace(permit, until_ms=permit.until_ms + extension_ms(last_ms, now_ms, GAP))
    assert not moved.is_over(now_ms)
    assert moved.until_ms - now_ms == permit.until_ms - last_ms


@pytest.mark.parametrize(
    ("clock_ms", "came_ms"),
    [(500, 900), (900, 900), (950, 950), (1000, 1000), (1001, 1000), (10**12, 1000)],
)
def test_a_message_comes_after_a_tick_and_soon(clock_ms: int, came_ms: int) -> None:
    """The clock of who took it counts as far as it agrees with the ticks, and no further."""
    assert manager_time(clock_ms, 900, longest_gap_ms=100) == came_ms


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(1, 10**6))
def test_after_moving_no_permit_is_shorter_than_it_was(last: int, now: int, gap: int) -> None:
    """What a permit had left at the last tick it has left now, but for time that really passed."""
    moved = extension_ms(last, now, gap)
    left_before, left_after = 5000, last + 5000 + moved - now
    assert left_after >= left_before - gap
