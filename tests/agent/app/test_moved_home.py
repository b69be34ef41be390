"""A copy of a home fetches nothing while what it was copied from may."""

from __future__ import annotations

from agent.app.manager_link.permit_use import MovedHome, is_elsewhere
from agent.link.actions import GrantPermit

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
    moved = MovedHome(is_moved=False)
    assert moved.wait_before_use(permit(5.0), 6.0) == 0
    assert not moved.is_waiting


def test_a_home_elsewhere_waits_for_as_long_as_the_other_may_work() -> None:
    """One permit, from the sending of the first sync that was answered; renewals change nothing."""
    moved = MovedHome(is_moved=True)
    assert moved.wait_before_use(permit(5.0), 6.0) == 99.0
    assert moved.wait_before_use(permit(60.0), 61.0) == 44.0
    assert moved.is_waiting
    assert moved.wait_before_use(permit(104.0), 105.0) == 0
    assert not moved.is_waiting
    assert moved.wait_before_use(permit(106.0), 107.0) == 0


def test_who_is_refused_begins_to_wait_anew() -> None:
    """The other was answered meanwhile, so it has a permit again."""
    moved = MovedHome(is_moved=True)
    moved.wait_before_use(permit(5.0), 6.0)
    moved.restart_wait()
    assert moved.wait_before_use(permit(90.0), 91.0) == 99.0
    assert moved.wait_before_use(permit(106.0), 107.0) > 0
