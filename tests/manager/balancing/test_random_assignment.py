"""The random deal is even, repeatable and within the rules."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER
from manager.balancing.problem import Problem, collapse
from manager.balancing.random_assignment import deal_at_random
from tests.manager.balancing.problems import problems


def atoms_without_rules(agents: int, units: int, group: list[int] | None = None) -> Problem:
    """Return a problem in which anybody may have anything."""
    return Problem(
        tuple(f"PRS{i:02}" for i in range(agents)),
        np.ones((agents, units)),
        np.full(units, NO_OWNER, dtype=np.intp),
        group=None if group is None else np.array(group, dtype=np.intp),
    )


@given(problems(), st.integers(0, 99))
def test_every_rule_is_kept(problem: Problem, seed: int) -> None:
    """Each atom has one owner that may have it, and pinned ones are with their agent."""
    atoms = collapse(problem)
    owner = deal_at_random(atoms, np.random.default_rng(seed))
    assert np.isfinite(atoms.costs[owner, np.arange(atoms.count)]).all()
    assert np.array_equal(owner[atoms.fixed], atoms.start[atoms.fixed])


@given(st.integers(1, 9), st.integers(0, 60), st.integers(0, 99))
def test_counts_differ_by_one_at_most(agents: int, units: int, seed: int) -> None:
    """Dealt one by one, nobody has two more than another."""
    atoms = collapse(atoms_without_rules(agents, units))
    counts = np.bincount(deal_at_random(atoms, np.random.default_rng(seed)), minlength=agents)
    assert counts.max() - counts.min() <= 1


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(0, 99))
def test_with_groups_counts_differ_by_the_largest_group(group: list[int], seed: int) -> None:
    """Groups are dealt whole, to whoever holds the fewest units."""
    atoms = collapse(atoms_without_rules(4, len(group), group))
    owner = atoms.expand(deal_at_random(atoms, np.random.default_rng(seed)))
    counts = np.bincount(owner, minlength=4)
    assert counts.max() - counts.min() <= max(group.count(one) for one in group)


def test_the_seed_decides() -> None:
    """One seed, one deal; another seed, another deal."""
    atoms = collapse(atoms_without_rules(5, 200))
    first = deal_at_random(atoms, np.random.default_rng(1))
    again = deal_at_random(atoms, np.random.default_rng(1))
    other = deal_at_random(atoms, np.random.default_rng(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_deal_does_not_favour_the_first_agents() -> None:
    """Who gets one more than others is left to chance too."""
    atoms = collapse(atoms_without_rules(3, 4))
    most = {
        int(np.bincount(deal_at_random(atoms, np.random.default_rng(seed))).argmax())
        for seed in range(40)
    }
    assert most == {0, 1, 2}
