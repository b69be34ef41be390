"""Work of late agents, forecast at those that will take it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import FloatArray
from manager.balancing.forecast.work_duration import Capacity
from manager.operations.rounds.takeover_forecast import work_after_takeovers

AGENTS = {1: Capacity(), 2: Capacity(), 3: Capacity(connections=1)}


def units(rows: list[tuple[int, int, int]]) -> FloatArray:
    """Return units of (agent, address, pages), a kilobyte and 100 ms for each page."""
    nan = np.nan
    return np.array(
        [
            [agent, address, pages, pages, nan, nan, 100.0, nan, nan, 0]
            for agent, address, pages in rows
        ]
    ).T


rows = st.lists(
    st.tuples(st.sampled_from((1, 2, 3)), st.integers(1, 8), st.integers(1, 500)), max_size=12
)


@given(rows=rows, leaving=st.sets(st.sampled_from((1, 2, 3))), wait_ms=st.integers(0, 10**8))
def test_no_unit_is_lost_and_none_begins_before_its_takeover(
    rows: list[tuple[int, int, int]], leaving: set[int], wait_ms: int
) -> None:
    """Each unit is counted once as its owner's, and once as finished at whoever fetches it."""
    takers = [agent for agent in AGENTS if agent not in leaving]
    found = work_after_takeovers(
        units(rows) if rows else np.empty((0, 0)),
        AGENTS,
        dict.fromkeys(leaving, wait_ms),
        takers,
    )
    assert sum(one.units for one in found.values()) == len(rows)
    assert sum(one.steps[-1][1] for one in found.values() if one.steps) == len(rows)
    gone = {agent for agent, _, _ in rows} & leaving
    if not takers:
        assert all(not one.taken_by for one in found.values())
        return
    assert {agent for agent, one in found.items() if one.taken_by} == gone
    for agent in gone:
        assert set(found[agent].taken_by) <= set(takers)
        assert max(found[by].work_ms for by in found[agent].taken_by) >= wait_ms


def test_the_longest_hosts_go_to_those_that_end_first() -> None:
    """Agent 2 is busy for long, so agent 3 takes the large host, and agent 2 the small one."""
    known = units([(1, 1, 900), (1, 2, 1), (2, 3, 500)])
    found = work_after_takeovers(known, AGENTS, {1: 0}, [2, 3])
    assert found[1].taken_by == (2, 3)
    assert found[2].work_ms < found[3].work_ms
    alone = work_after_takeovers(known, AGENTS, {}, [1, 2, 3])
    assert found[3].work_ms == pytest.approx(alone[1].work_ms, rel=0.01)
