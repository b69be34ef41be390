"""The collector walks through all of memory at rest, or after hours, and is given back."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from agent.runners.garbage_collection import LONGEST_S, RESTED_S, Garbage


class Knot:
    """Refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def garbage() -> Iterator[Garbage]:
    it = Garbage()
    before = gc.get_threshold()
    it.begin(0.0)
    yield it
    it.end()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def old_knot() -> weakref.ref[Knot]:
    """Return a cycle that nobody holds, in the oldest generation."""
    knot = Knot()
    gc.collect(0)
    gc.collect(1)
    return weakref.ref(knot)


def test_the_oldest_are_collected_at_rest(garbage: Garbage) -> None:
    """Not in the midst of work, not each moment, but when nothing has been under way."""
    knot = old_knot()
    garbage.look(RESTED_S + 1, lambda: False)
    garbage.look(RESTED_S - 1, lambda: True)
    assert knot() is not None
    garbage.look(RESTED_S, lambda: True)
    assert knot() is None


def test_work_without_a_rest_does_not_grow_for_ever(garbage: Garbage) -> None:
    """After hours it is done all the same."""
    knot = old_knot()
    garbage.look(LONGEST_S - 1, lambda: False)
    assert knot() is not None
    garbage.look(LONGEST_S, lambda: False)
    assert knot() is None


def test_what_lives_is_not_walked_through_again(garbage: Garbage) -> None:
    """What was alive at the last collection is set aside, and counts never start a full one."""
    assert gc.get_freeze_count() > 1000
    assert gc.get_threshold()[2] > 10**6
