"""A copy of a home fetches nothing while what it was copied from may."""

from __future__ import annotations

from agent.link.actions import GrantPermit
from agent.link.moved_home import Moved, is_elsewhere

HERE, THERE = "key1 here", "key1 there"


def permit(sent_s: float) -> GrantPermit:
    return GrantPermit(1, 100.0, sent_s)


def test_only_the_same_key_in_another_place_is_elsewhere() -> None:
    """A home of before this was written down, and one that joined anew, need not wait."""
    assert is_elsewhere(HERE, THERE)
    assert not is_elsewhere(HERE, HERE)
    assert not is_elsewhere("", THERE)
    assert not is_elsewhere(HERE, "key2 there")


def test_a_home_in_its_place_uses_permits_at_once() -> None:
    """Nothing is different for all the others."""
    moved = Moved(elsewhere=False)
    assert moved.granted(permit(5.0), 6.0) == 0
    assert not moved.waits


def test_a_home_elsewhere_waits_for_as_long_as_the_other_may_work() -> None:
    """One permit, from the sending of the first sync that was answered; renewals change nothing."""
    moved = Moved(elsewhere=True)
    assert moved.granted(permit(5.0), 6.0) == 99.0
    assert moved.granted(permit(60.0), 61.0) == 44.0
    assert moved.waits
    assert moved.granted(permit(104.0), 105.0) == 0
    assert not moved.waits
    assert moved.granted(permit(106.0), 107.0) == 0


def test_who_is_refused_begins_to_wait_anew() -> None:
    """The other was answered meanwhile, so it has a permit again."""
    moved = Moved(elsewhere=True)
    moved.granted(permit(5.0), 6.0)
    moved.refused()
    assert moved.granted(permit(90.0), 91.0) == 99.0
    assert moved.granted(permit(106.0), 107.0) > 0
