"""Problems for the properties: small, and awkward in every way that the rules allow."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER, IntArray
from manager.balancing.problem import Problem

__all__ = ["path_tree", "problems", "same_owner_in_groups"]


def path_tree(agents: int) -> IntArray:
    """Return the edges of the tree 0 - 1 - 2 - ..."""
    return np.array([(i, i + 1) for i in range(agents - 1)], dtype=np.intp).reshape(-1, 2)


@st.composite
def problems(draw: st.DrawFn, *, constrained: bool = True, largest: int = 14) -> Problem:
    """Draw a problem: any tree, some units unowned; if constrained, groups, pins and bans too."""
    agents = draw(st.integers(1, 5))
    units = draw(st.integers(0, largest))
    cost = st.one_of(st.just(0.0), st.floats(0.01, 1e6), st.integers(1, 9).map(float))
    owner = st.integers(NO_OWNER, agents - 1)

    def matrix(cells: st.SearchStrategy[float] | st.SearchStrategy[bool]) -> list[object]:
        row = st.lists(cells, min_size=units, max_size=units)
        return draw(st.lists(row, min_size=agents, max_size=agents))

    def column(cells: st.SearchStrategy[int]) -> IntArray:
        values = draw(st.lists(cells, min_size=units, max_size=units))
        return np.array(values, dtype=np.intp)

    costs = np.array(matrix(cost), dtype=np.float64).reshape(agents, units)
    before = column(owner)
    parents = [draw(st.integers(0, child - 1)) for child in range(1, agents)]
    edges = np.array([(p, c) for c, p in enumerate(parents, 1)], dtype=np.intp).reshape(-1, 2)
    names = tuple(f"PRS{i:02}" for i in range(agents))
    if not constrained:
        return Problem(names, costs, before, edges)
    group = column(st.integers(0, max(0, units - 1)))
    unreachable = np.array(matrix(st.booleans()), dtype=np.bool_).reshape(agents, units)
    forbidden = np.array(matrix(st.booleans()), dtype=np.bool_).reshape(agents, units)
    forbidden[0] = False  # somebody may have everything, else there is no answer
    wanted = column(st.one_of(st.just(NO_OWNER), owner))
    # One pin decides for all units on its address.
    pins = np.full(units, NO_OWNER, dtype=np.intp)
    for unit in range(units):
        pins[unit] = wanted[unit] if group[unit] == unit else NO_OWNER
    return Problem(names, costs, before, edges, group, pins, forbidden, unreachable)


def same_owner_in_groups(problem: Problem, owner: IntArray) -> bool:
    """Return whether no group is split."""
    if problem.group is None:
        return True
    return all(
        len(set(owner[problem.group == one].tolist())) == 1 for one in np.unique(problem.group)
    )
