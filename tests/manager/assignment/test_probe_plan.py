"""Who probes what: a few agents each host, everybody the largest, within every budget."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.assignment.errors import RuleError
from manager.assignment.probe_plan import NO_AGENT, ProbeRules, plan_probes

IntArray = npt.NDArray[np.intp]


def planned(
    units: int,
    agents: int,
    *,
    each: int = 3,
    large_most: int = 40,
    budget: int = 10**9,
    finder: list[int] | None = None,
    owner: list[int] | None = None,
    large: set[int] | None = None,
    fresh: set[tuple[int, int]] | None = None,
    banned: set[tuple[int, int]] | None = None,
    near: list[list[int]] | None = None,
    first_id: int = 1,
) -> list[tuple[int, int]]:
    """Return the pairs of a small plan, in their order."""
    nobody = [NO_AGENT] * units
    place, agent = plan_probes(
        np.arange(first_id, first_id + units),
        np.array(finder or nobody, dtype=np.intp),
        np.array(owner or nobody, dtype=np.intp),
        np.isin(np.arange(units), sorted(large or set())),
        np.array([unit * agents + one for unit, one in fresh or set()], dtype=np.int64),
        np.array([unit * agents + one for unit, one in banned or set()], dtype=np.int64),
        ProbeRules(each, large_most, np.full(agents, budget), near or [[]] * agents),
    )
    return list(zip(place.tolist(), agent.tolist(), strict=True))


def test_the_finder_and_the_owner_come_first() -> None:
    """Then their neighbours, then others; nobody twice."""
    pairs = planned(1, 9, each=5, finder=[4], owner=[2], near=[[]] * 4 + [[7, 2]] + [[]] * 4)
    agents = [agent for _, agent in pairs]
    assert agents[:3] == [4, 2, 7]
    assert len(set(agents)) == 5


def test_a_repeat_draws_the_same() -> None:
    """Hosts are drawn for by their number alone, and agents about equally often."""
    pairs = planned(3000, 17)
    assert pairs == planned(3000, 17)
    counts = Counter(agent for _, agent in pairs)
    assert len(pairs) == 9000
    assert min(counts.values()) > 0.8 * 9000 / 17
    assert max(counts.values()) < 1.2 * 9000 / 17


def test_the_largest_are_probed_by_everybody_up_to_what_they_bear() -> None:
    """12 agents, of which a host bears 10 a day."""
    counts = Counter(
        unit for unit, _ in planned(20, 12, large={3, 8}, large_most=10, owner=[5] * 20)
    )
    assert counts == {unit: 10 if unit in (3, 8) else 3 for unit in range(20)}


def test_what_is_fresh_is_not_probed_again() -> None:
    """Whoever it would be."""
    first = planned(50, 6)
    fresh = set(first[::2])
    assert planned(50, 6, fresh=fresh) == [pair for pair in first if pair not in fresh]


def test_agents_with_a_fresh_distance_count_as_those_that_probe() -> None:
    """Three measured it, as many as shall: only the owner, who did not, is asked."""
    measured = {(0, 1), (0, 2), (0, 3)}
    assert planned(1, 9, fresh=measured) == []
    assert planned(1, 9, fresh=measured, owner=[3], near=[[5, 6]] * 9) == []
    assert planned(1, 9, fresh=measured, owner=[7], near=[[5, 6]] * 9) == [(0, 7)]
    assert len(planned(1, 9, fresh={(0, 1)})) == 2
    large = planned(1, 9, fresh=measured, large={0})
    assert {agent for _, agent in large} == {0, 4, 5, 6, 7, 8}


def test_who_is_banned_from_a_host_is_replaced() -> None:
    """As many probe it as without the ban, where there are others."""
    for large in (set(), {0}):
        pairs = planned(
            1, 8, finder=[2], large_most=4, large=large, banned={(0, 2), (0, 5), (0, 6)}
        )
        agents = {agent for _, agent in pairs}
        assert not agents & {2, 5, 6}
        assert len(agents) == len(pairs) == (4 if large else 3)


def test_a_budget_goes_to_what_matters_most() -> None:
    """Each agent's own finds first, then the largest hosts, then the rest."""
    finder = [0] * 5 + [NO_AGENT] * 15
    pairs = planned(20, 4, each=4, finder=finder, large={19}, budget=6)
    of_first = [unit for unit, agent in pairs if agent == 0]
    assert set(of_first[:6]) == {0, 1, 2, 3, 4, 19}
    assert Counter(agent for _, agent in pairs) == {0: 6, 1: 6, 2: 6, 3: 6}


@given(
    units=st.integers(1, 30),
    agents=st.integers(1, 12),
    each=st.integers(1, 14),
    large_most=st.integers(1, 14),
    budget=st.integers(0, 20),
    data=st.data(),
)
def test_no_rule_is_ever_broken(
    units: int, agents: int, each: int, large_most: int, budget: int, data: st.DataObject
) -> None:
    """No pair twice, no budget exceeded, no host probed by more than it bears."""
    someone = st.lists(st.integers(-1, agents - 1), min_size=units, max_size=units)
    large = data.draw(st.sets(st.integers(0, units - 1)))
    near = data.draw(
        st.lists(st.lists(st.integers(0, agents - 1), max_size=4), min_size=agents, max_size=agents)
    )
    pairs = planned(
        units, agents, each=each, large_most=large_most, budget=budget, large=large, near=near,
        finder=data.draw(someone), owner=data.draw(someone),
    )  # fmt: skip
    assert len(set(pairs)) == len(pairs)
    assert all(count <= budget for count in Counter(agent for _, agent in pairs).values())
    for unit, count in Counter(unit for unit, _ in pairs).items():
        assert count <= min(agents, max(each, large_most) if unit in large else each)
    if budget == 20 and units <= 20:
        assert {unit for unit, _ in pairs} == set(range(units))


def test_a_thousand_agents_and_many_hosts_need_no_product() -> None:
    """A thousand agents and 50,000 hosts are 50 million pairs; what is made is 250,000."""
    tracemalloc.start()
    pairs = planned(50_000, 1000, each=5, owner=[7] * 50_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(pairs) == 250_000
    assert peak < 150e6


@pytest.mark.parametrize("broken", ["each", "large"])
def test_nonsense_is_refused(broken: str) -> None:
    """A rule that lets nobody probe is a mistake."""
    numbers = {"each": 1, "large": 1, broken: 0}
    with pytest.raises(RuleError, match="must be >= 1"):
        ProbeRules(budget=np.ones(2, np.intp), near=[[], []], **numbers)
    with pytest.raises(RuleError, match="1 list of neighbours for 2 agents"):
        ProbeRules(1, 1, np.ones(2, np.intp), [[]])
