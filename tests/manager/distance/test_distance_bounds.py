"""What an agent claims moves nobody's share beyond a bound, whether nothing or a thousand times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import Options, make_plan
from manager.balancing.cost import cost_matrix
from manager.balancing.problem import Problem
from manager.distance.distance_bounds import bounded_distances, excess_nearness, overall_factor
from manager.distance.errors import DistanceError
from manager.distance.minimum_spanning_tree import network_distance, spanning_tree
from manager.distance.prediction import Probes, fit

FloatArray = npt.NDArray[np.float64]
AGENTS, UNITS, FACTOR = 12, 600, 10.0


def world(seed: int = 1) -> tuple[FloatArray, FloatArray]:
    """Draw distances with affinities, and volumes."""
    rng = np.random.default_rng(seed)
    level = rng.normal(2, 0.5, AGENTS)[:, None] + rng.normal(0, 0.5, UNITS)
    distance: FloatArray = np.exp(level + rng.normal(0, 1, (AGENTS, UNITS)))
    return distance, rng.lognormal(5, 1.5, UNITS)


def judged(claimed: FloatArray) -> FloatArray:
    """Return what is believed of claims, as a plan would have it."""
    agent, unit = np.nonzero(np.isfinite(claimed))
    model = fit(Probes(agent, unit, claimed[agent, unit]), *claimed.shape)
    assert model is not None
    known = np.asarray(np.isfinite(claimed).any(axis=1))
    distrusted = np.asarray(excess_nearness(model, known, overall_factor(FACTOR)) > 0)
    return bounded_distances(claimed.copy(), FACTOR, distrusted).astype(np.float64)


def shares(distance: FloatArray, volume: FloatArray, method: str) -> FloatArray:
    """Return (agents,) each agent's share of all bytes in a plan."""
    problem = Problem(
        names=tuple(f"a{row}" for row in range(AGENTS)),
        costs=cost_matrix(volume, distance).costs,
        before=np.full(UNITS, NO_OWNER, dtype=np.intp),
        edges=spanning_tree(network_distance(distance)).edges,
    )
    after = make_plan(method, problem, Options(seed=1)).after
    return np.asarray(np.bincount(after, volume, AGENTS) / volume.sum())


@pytest.mark.parametrize("liar", [0, 5])
@pytest.mark.parametrize("lie", [0.0, 1e-3, 0.11, 0.3, 1000.0])
def test_a_liar_changes_no_share_beyond_a_bound(liar: int, lie: float) -> None:
    """In a plan made before the lie and after it; without the bound one agent gets everything."""
    distance, volume = world()
    claimed = distance.copy()
    claimed[liar] *= lie
    honest = shares(judged(distance), volume, "prices")
    after = shares(judged(claimed), volume, "prices")
    assert after[liar] <= honest[liar] + 1.5 / AGENTS
    others = np.arange(AGENTS) != liar
    assert np.abs(after - honest)[others].max() <= 1 / AGENTS
    if lie < 0.01:
        unbound = shares(np.maximum(claimed, 1e-6), volume, "prices")
        assert unbound[liar] > 0.8


def test_who_is_a_little_too_near_is_bounded_cell_by_cell() -> None:
    """A claim counts as a tenth of the quarter-best of the others at least, unless it is true."""
    distance = np.full((5, 3), 100.0)
    distance[2, 1] = 1.0
    distance[3, 2] = 1e6
    found = bounded_distances(distance.copy(), FACTOR, np.zeros(5, dtype=np.bool_))
    assert found[2, 1] == 10
    assert found[3, 2] == 1000
    assert (np.delete(found.ravel(), [7, 11]) == 100).all()


def test_honest_agents_are_believed() -> None:
    """Distances that differ by affinity and by line are left as they are, nearly all."""
    distance, _ = world(3)
    found = judged(distance)
    assert (found == distance).mean() > 0.97
    assert (found.argmin(axis=0) == distance.argmin(axis=0)).mean() > 0.97


def test_liars_together_are_bounded_up_to_a_quarter() -> None:
    """Two of twelve that claim nothing are no witnesses for each other."""
    distance, volume = world()
    claimed = distance.copy()
    claimed[[1, 4]] = 0
    after = shares(judged(claimed), volume, "prices")
    assert after[[1, 4]].max() < 3 / AGENTS


def test_of_two_nobody_can_say_who_lies() -> None:
    """Nothing is bounded but what is physically impossible."""
    distance = np.array([[0.0, 1.0], [1000.0, 1000.0]])
    found = bounded_distances(distance.copy(), FACTOR, np.zeros(2, dtype=np.bool_))
    assert found[0, 0] > 0
    assert found[0, 1] == 1
    assert (found[1] == 1000).all()


def test_unreachable_and_unknown_stay() -> None:
    """They are no claims of distance, and no witnesses."""
    nan, inf = np.nan, np.inf
    distance = np.array([[inf, 1.0], [nan, 1.0], [1.0, inf], [1.0, nan]])
    found = bounded_distances(distance.copy(), FACTOR, np.zeros(4, dtype=np.bool_))
    assert np.array_equal(found, distance, equal_nan=True)


def test_a_factor_below_one_is_refused() -> None:
    """It would believe nobody."""
    with pytest.raises(DistanceError, match=r"factor = 0.5: must be >= 1"):
        bounded_distances(np.ones((3, 1)), 0.5, np.zeros(3, dtype=np.bool_))
