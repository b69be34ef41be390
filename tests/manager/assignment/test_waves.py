"""Probes in rotation: a group with one agent at a time, all agents at work, nothing twice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.assignment import NO_AGENT, RuleError, all_waves, next_wave


@st.composite
def gaps(draw: st.DrawFn) -> npt.NDArray[np.bool_]:
    """Draw which agents lack which groups."""
    agents, groups = draw(st.integers(1, 5)), draw(st.integers(0, 12))
    row = st.lists(st.booleans(), min_size=groups, max_size=groups)
    rows = draw(st.lists(row, min_size=agents, max_size=agents))
    return np.array(rows, dtype=np.bool_).reshape(agents, groups)


def sizes_for(missing: npt.NDArray[np.bool_], seed: int) -> npt.NDArray[np.intp]:
    """Return sizes of 1 to 6 hosts."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.integers(1, 7, size=missing.shape[1]), dtype=np.intp)


def test_a_latin_square() -> None:
    """Where all is missing, each agent has each group once, in as many waves as agents."""
    waves = list(all_waves(np.ones((4, 8), dtype=np.bool_), budget=2))
    assert len(waves) == 4
    assert waves[0].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    for group in range(8):
        assert sorted(wave[group] for wave in waves) == [0, 1, 2, 3]


@given(gaps(), st.integers(1, 6), st.integers(0, 5), st.integers(0, 9))
def test_every_missing_pair_is_ordered_once(
    missing: npt.NDArray[np.bool_], budget: int, turn: int, seed: int
) -> None:
    """And nothing that was measured is ordered again; budgets hold for more than one group."""
    size = sizes_for(missing, seed)
    ordered = np.zeros_like(missing, dtype=np.intp)
    for wave in all_waves(missing, budget, sizes=size, turn=turn):
        groups = np.flatnonzero(wave != NO_AGENT)
        assert len(groups)
        ordered[wave[groups], groups] += 1
        for agent in range(len(missing)):
            mine = np.flatnonzero(wave == agent)
            assert len(mine) <= 1 or size[mine].sum() <= budget
    assert np.array_equal(ordered, missing.astype(np.intp))


@given(gaps(), st.integers(1, 6), st.integers(0, 5), st.integers(0, 9), st.data())
def test_nobody_idles_beside_work(
    missing: npt.NDArray[np.bool_], budget: int, turn: int, seed: int, data: st.DataObject
) -> None:
    """What is left over is nobody's: not free, not missing, or beyond the budget."""
    agents, groups = missing.shape
    size = sizes_for(missing, seed)
    flags = st.lists(st.booleans(), min_size=groups, max_size=groups)
    free = np.array(data.draw(flags), dtype=np.bool_)
    spent = np.array(
        data.draw(st.lists(st.integers(0, 7), min_size=agents, max_size=agents)), dtype=np.intp
    )
    given_spent, given_free = spent.copy(), free.copy()
    wave = next_wave(missing, budget, turn=turn, sizes=size, free=free, spent=spent)
    assert np.array_equal(spent, given_spent)
    assert np.array_equal(free, given_free)
    taken = np.flatnonzero(wave != NO_AGENT)
    assert free[taken].all()
    assert missing[wave[taken], taken].all()
    used = spent + np.bincount(wave[taken], weights=size[taken], minlength=agents)
    for group in np.flatnonzero((wave == NO_AGENT) & free):
        for agent in np.flatnonzero(missing[:, group]):
            assert used[agent] > 0
            assert used[agent] + size[group] > budget


def test_a_group_that_somebody_has_waits() -> None:
    """Only free groups are handed out."""
    missing = np.ones((2, 3), dtype=np.bool_)
    wave = next_wave(missing, 9, free=np.array([True, False, True]))
    assert wave.tolist() == [0, NO_AGENT, 0]


def test_open_orders_count() -> None:
    """An agent that still works on earlier orders gets what its budget has left."""
    missing = np.array([[True] * 4])
    assert next_wave(missing, 3, spent=np.array([2])).tolist() == [0, *[NO_AGENT] * 3]
    assert (next_wave(missing, 3, spent=np.array([3])) == NO_AGENT).all()


def test_a_large_group_goes_alone() -> None:
    """A group larger than the budget is ordered from an agent that has nothing else."""
    missing = np.array([[True, True]])
    size = np.array([1, 50])
    waves = [wave.tolist() for wave in all_waves(missing, 5, sizes=size)]
    assert waves == [[0, NO_AGENT], [NO_AGENT, 0]]


def test_17_agents_and_6500_hosts_take_as_many_waves_as_they_must() -> None:
    """The source's experiment: 6,500 x 17 pairs, 400 hosts an agent and wave, all agents busy."""
    missing = np.ones((17, 6500), dtype=np.bool_)
    waves = list(all_waves(missing, budget=400))
    assert len(waves) == 17
    assert all((np.bincount(wave, minlength=17) >= 382).all() for wave in waves)


def test_a_budget_of_nothing_is_refused() -> None:
    """It would never measure anything."""
    with pytest.raises(RuleError, match="budget = 0"):
        next_wave(np.ones((1, 1), dtype=np.bool_), 0)
