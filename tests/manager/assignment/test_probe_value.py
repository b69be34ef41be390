"""Expected savings of probes are those of a lognormal cost; only worthwhile probes are chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.assignment.errors import RuleError
from manager.assignment.probe_value import ValueRules, choose_probes, expected_savings

COSTS = st.floats(1e-3, 1e9)


@pytest.mark.parametrize("cost", [0.1, 50.0, 100.0, 300.0])
@pytest.mark.parametrize("error", [0.05, 0.5, 1.5])
def test_the_saving_is_the_mean_over_many_draws(cost: float, error: float) -> None:
    """Of a lognormal cost about its middle, below the best known one."""
    drawn = cost * np.exp(error * np.random.default_rng(0).standard_normal(2_000_000))
    mean = np.maximum(100.0 - drawn, 0).mean()
    (found,) = expected_savings(np.array([[cost]]), np.array([[error]]), np.array([100.0]))[0]
    assert found == pytest.approx(mean, rel=0.02, abs=0.02)


@given(COSTS, COSTS, st.floats(0, 5), st.floats(1, 100))
def test_a_saving_is_within_bounds_and_falls_with_the_cost(
    cost: float, best: float, error: float, times: float
) -> None:
    """No less than what the mean cost saves, no more than all; a dearer best one saves more."""
    found = expected_savings(
        np.array([[cost, cost, times * cost]]),
        np.full((1, 3), error),
        np.array([best, times * best, best]),
    )[0]
    mean = cost * np.exp(error**2 / 2)
    slack = 1e-5 * times * max(best, cost)
    assert max(best - mean, 0.0) - slack <= found[0] <= best + slack
    assert found[1] >= found[0] - slack
    assert found[2] <= found[0] + slack


def test_where_nobody_measured_any_probe_is_worth_it() -> None:
    """There is no cost to save, so all that may probe it are chosen, up to the limit."""
    savings = expected_savings(np.full((3, 1), 7.0), np.full((3, 1), 0.5), np.array([np.inf]))
    assert np.isinf(savings).all()
    allowed = np.array([[True], [True], [False]])
    agent, unit = choose_probes(
        savings, allowed, np.array([1e9]), np.array([True]), ValueRules(1.0, 5, 1.0)
    )
    assert (agent.tolist(), unit.tolist()) == ([0, 1], [0, 0])


@given(
    st.integers(1, 6).flatmap(
        lambda agents: st.lists(
            st.lists(st.floats(0, 1000), min_size=agents, max_size=agents), min_size=1, max_size=8
        )
    ),
    st.data(),
)
def test_chosen_probes_keep_the_rules(rows: list[list[float]], data: st.DataObject) -> None:
    """Allowed, worth their pages, so many a unit; none that saves more is left out; in order."""
    savings = np.array(rows).T
    allowed = np.array(
        data.draw(
            st.lists(
                st.lists(st.booleans(), min_size=savings.shape[1], max_size=savings.shape[1]),
                min_size=len(savings),
                max_size=len(savings),
            )
        )
    )
    pages = np.array(
        data.draw(
            st.lists(st.floats(0.5, 100), min_size=savings.shape[1], max_size=savings.shape[1])
        )
    )
    columns = savings.shape[1]
    whole = np.array(data.draw(st.lists(st.booleans(), min_size=columns, max_size=columns)))
    gain, whole_gain = data.draw(st.floats(0, 3)), data.draw(st.floats(0, 3))
    rules = ValueRules(gain, data.draw(st.integers(1, 7)), whole_gain)
    agent, unit = choose_probes(savings, allowed, pages, whole, rules)
    pairs = list(zip(agent.tolist(), unit.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    least = [max(gain, whole_gain) if is_whole else gain for is_whole in whole]
    worth = allowed & (savings >= np.array(least) * pages) & (savings > 0)
    for column in range(savings.shape[1]):
        mine = [a for a, u in pairs if u == column]
        assert len(mine) == min(rules.most, int(worth[:, column].sum()))
        assert all(worth[a, column] for a in mine)
        left = [a for a in np.flatnonzero(worth[:, column]).tolist() if a not in mine]
        if mine and left:
            assert min(savings[mine, column]) >= max(savings[left, column])
    ratios = [savings[a, u] / pages[u] for a, u in pairs]
    assert ratios == sorted(ratios, reverse=True)


def test_a_limit_of_no_agent_is_refused() -> None:
    """It would order nothing, ever."""
    with pytest.raises(RuleError):
        ValueRules(0.1, 0, 1.0)


def test_where_most_units_are_small_they_are_judged_as_others_are() -> None:
    """Three of four are seen whole: what they save is what there is to save."""
    savings = np.array([[5.0, 5.0, 5.0, 5.0], [5.0, 5.0, 5.0, 5.0]])
    allowed, cost = np.ones((2, 4), dtype=np.bool_), np.full(4, 10.0)
    whole = np.array([True, True, True, False])
    _, some = choose_probes(savings, allowed, cost, whole, ValueRules(0.1, 2, 1.0, 0.75))
    assert set(some.tolist()) == {3}
    _, every = choose_probes(savings, allowed, cost, whole, ValueRules(0.1, 2, 1.0, 0.5))
    assert set(every.tolist()) == {0, 1, 2, 3}
