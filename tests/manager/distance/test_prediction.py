"""What nobody measured is predicted from what others did, and better than without factors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.distance.errors import DistanceError
from manager.distance.prediction import Model, Probes, fit

NOISE = 0.3
"""Standard deviation of log distance from one probe to the next."""

FloatArray = npt.NDArray[np.float64]


def drawn_world(agents: int, units: int, seed: int = 1, rank: int = 3) -> FloatArray:
    """Draw (agents, units) log distances: levels, hosts' own, and who sees which hosts near."""
    rng = np.random.default_rng(seed)
    level = rng.normal(3, 0.8, agents)[:, None] + rng.normal(0, 0.5, units)
    near = rng.normal(0, 1 / np.sqrt(rank), (agents, rank)) @ rng.normal(0, 1, (rank, units))
    return np.asarray(level + near + rng.normal(0, 0.2, (agents, units)))


def probed(world: FloatArray, each: int, seed: int = 2) -> tuple[Probes, npt.NDArray[np.bool_]]:
    """Let so many agents probe each unit; return the probes, and which pairs have none."""
    rng = np.random.default_rng(seed)
    agents, units = world.shape
    agent = np.argsort(rng.random((units, agents)), axis=1)[:, :each].ravel()
    unit = np.repeat(np.arange(units), each)
    missing = np.ones(world.shape, dtype=np.bool_)
    missing[agent, unit] = False
    return Probes(
        agent, unit, np.exp(world[agent, unit] + rng.normal(0, NOISE, len(unit)))
    ), missing


def learned(probes: Probes, agents: int, units: int, rank: int = 3) -> Model:
    """Fit where there is something to fit."""
    model = fit(probes, agents, units, rank=rank)
    assert model is not None
    return model


def errors(model: Model, probes: Probes, world: FloatArray) -> FloatArray:
    """Return (agents, units) predicted minus true log distance."""
    return np.asarray(np.log(model.predict(model.places(probes, world.shape[1]))) - world)


def test_unprobed_pairs_are_predicted_within_a_factor_of_two() -> None:
    """5 of 17 agents probe each unit: the others are off by less, and by less than without rank."""
    world = drawn_world(17, 1500)
    probes, missing = probed(world, 5)
    off = errors(learned(probes, 17, 1500), probes, world)[missing].std()
    plain = errors(learned(probes, 17, 1500, rank=0), probes, world)[missing].std()
    assert off < np.log(2)
    assert off < 0.75 * plain


def test_few_probes_do_no_worse_than_no_factors() -> None:
    """Where there is nothing to learn, the factors stay small: least squares would overfit."""
    rng = np.random.default_rng(3)
    world = rng.normal(3, 0.8, 6)[:, None] + rng.normal(0, 1, (6, 40))
    probes, missing = probed(world, 2)
    off = errors(learned(probes, 6, 40), probes, world)[missing].std()
    plain = errors(learned(probes, 6, 40, rank=0), probes, world)[missing].std()
    assert off < 1.05 * plain


def test_it_says_how_far_it_may_be_off() -> None:
    """About two of three predictions are within the factor that it gives."""
    world = drawn_world(17, 800)
    probes, missing = probed(world, 4)
    model = learned(probes, 17, 800)
    within = np.log(model.off_by(model.places(probes, 800)))
    share = (np.abs(errors(model, probes, world)) < within)[missing].mean()
    assert 0.55 < share < 0.85


def test_one_wrong_probe_in_fifty_moves_little() -> None:
    """Noise has long tails, so what is absurd counts little."""
    world = drawn_world(17, 800)
    probes, missing = probed(world, 6)
    wrong = np.arange(len(probes.unit)) % 50 == 0
    spoilt = Probes(probes.agent, probes.unit, np.where(wrong, 1000, 1) * probes.ms_per_kb)
    clean = errors(learned(probes, 17, 800), probes, world)[missing].std()
    off = errors(learned(spoilt, 17, 800), spoilt, world)[missing].std()
    assert off < 1.35 * clean


def test_wrong_probes_are_found() -> None:
    """A probe a hundred times off is odd against the others of its unit; sound ones are not."""
    world = drawn_world(17, 800)
    probes, _ = probed(world, 8)
    wrong = np.arange(len(probes.unit)) % 80 == 3
    spoilt = Probes(probes.agent, probes.unit, np.where(wrong, 100, 1) * probes.ms_per_kb)
    factor, odd = learned(spoilt, 17, 800).outliers(spoilt, 800)
    assert odd[wrong].mean() > 0.9
    assert odd[~wrong].mean() < 0.01
    assert np.median(factor[wrong]) > 30


def test_who_never_probed_is_taken_for_average() -> None:
    """An agent without a probe, a unit without one: both get a number, of the middle."""
    world = drawn_world(8, 200)
    probes, _ = probed(world[:7], 5)
    model = learned(probes, 8, 201)
    found = model.predict(model.places(probes, 201))
    assert np.isfinite(found).all()
    middle = np.median(found[:7])
    assert middle / 3 < found[7, :200].mean() < middle * 3
    assert found[:, 200] == pytest.approx(np.exp(model.levels))


def test_nothing_measured_is_nothing_learned() -> None:
    """Without a probe there is no model."""
    none = Probes(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))
    assert fit(none, 3, 3) is None


pairs = st.tuples(st.integers(0, 4), st.integers(0, 6))
values = st.one_of(st.just(0.0), st.floats(0, 1e15), st.just(7.0))


@given(st.dictionaries(pairs, values, min_size=1, max_size=35))
def test_whatever_agents_claim_predictions_are_numbers(
    claimed: dict[tuple[int, int], float],
) -> None:
    """Zeros, a hundred years a byte, one agent: finite and positive, the same each time."""
    probes = Probes(
        np.array([agent for agent, _ in claimed], dtype=np.intp),
        np.array([unit for _, unit in claimed], dtype=np.intp),
        np.array(list(claimed.values())),
    )
    model = learned(probes, 5, 7)
    places = model.places(probes, 7)
    found = model.predict(places)
    assert np.isfinite(found).all()
    assert (found > 0).all()
    assert (model.off_by(places) >= 1).all()
    again = learned(probes, 5, 7)
    assert np.array_equal(again.loadings, model.loadings)


@pytest.mark.parametrize("value", [-1.0, np.inf, np.nan])
def test_what_is_no_distance_is_refused(value: float) -> None:
    """Unreachable is no number to learn from."""
    with pytest.raises(DistanceError, match="leave unreachable ones out"):
        Probes(np.array([0]), np.array([0]), np.array([value]))
