"""Lives in which addresses are unloaded between two turns, beside lives in which none is."""

from __future__ import annotations

from itertools import zip_longest

import pytest

from shared.urls import host_of
from tests.agent.judge import Judge
from tests.agent.modules.frontier.lives import live

PAIRED = 122
"""Of the slow seeds the one in which two hosts come to an address between two ticks."""


@pytest.mark.parametrize(
    "seed",
    [*range(8), *(pytest.param(n, marks=pytest.mark.slow) for n in (*range(8, 71), PAIRED, 157))],
)
def test_unloading_forgets_nothing(seed: int) -> None:
    """Every request is the same, at the same moment, where each address is unloaded between two
    turns, and where all stay in memory: over restarts, moves, lists, gaps and outages."""
    unloading, loaded = live(seed, 0, 8, late_s=0.011), live(seed, 5000, 8, late_s=0.011)
    check_same(unloading.judge, loaded.judge)
    for life in (unloading, loaded):
        life.teardown()
    check_same(unloading.judge, loaded.judge)


def check_same(one: Judge, other: Judge) -> None:
    """Compare all requests, up to a moment at which the lives part with good reason.

    Which of two hosts is asked first that came to an address between the same two ticks is open.
    """
    for ours, theirs in zip_longest(sorted(one.started), sorted(other.started)):
        if ours == theirs:
            continue
        assert ours is not None, theirs
        assert theirs is not None, ours
        assert ours[:2] == theirs[:2], (ours, theirs)  # the moment and the address
        hosts = host_of(ours[2]), host_of(theirs[2])
        for judge in (one, other):
            first_s, second_s = (judge.placed_s[host] for host in hosts)
            assert first_s == second_s, (ours, theirs)
        return
