"""Prices of room, the fill by them, and moves to nearer agents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.balancing import room_prices
from manager.balancing.arrays import FloatArray, IntArray
from manager.balancing.bound import lower_bound
from manager.balancing.network_cost import move_nearer
from manager.balancing.room_fill import fill_rooms
from manager.balancing.room_prices import (
    Pairs,
    first_prices,
    least_network,
    next_prices,
    pairs_of,
    sharp_prices,
)

Drawn = tuple[FloatArray, FloatArray]
HARD = settings(max_examples=60, deadline=None)


@st.composite
def rooms(draw: st.DrawFn) -> Drawn:
    """Draw network costs, inf where barred, and shares of rooms: some tight, some impossible."""
    agents, atoms = draw(st.integers(1, 6)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    network = rng.lognormal(3, draw(st.sampled_from([0.0, 0.5, 2.0])), (agents, atoms))
    network[rng.random((agents, atoms)) < draw(st.sampled_from([0.0, 0.1]))] = 0.0
    share = (
        network / network.max(initial=1.0) if draw(st.booleans()) else rng.random((agents, atoms))
    )
    tight = draw(st.floats(0.2, 3.0))
    share *= tight * agents / max(float(share.min(axis=0).sum()), 1e-6)
    barred = rng.random((agents, atoms)) < draw(st.sampled_from([0.0, 0.5]))
    barred[rng.integers(0, agents, atoms), np.arange(atoms)] = False
    return np.where(barred, np.inf, network), np.where(barred, np.inf, share)


def loads(share: FloatArray, owner: IntArray) -> FloatArray:
    found = np.bincount(owner, share[owner, np.arange(len(owner))], len(share))
    return np.asarray(found, dtype=np.float64)


def cost(network: FloatArray, owner: IntArray) -> float:
    return float(network[owner, np.arange(len(owner))].sum())


@HARD
@given(rooms())
def test_each_atom_has_an_owner_that_may_have_it_and_equal_rooms_are_filled_alike(
    drawn: Drawn,
) -> None:
    network, share = drawn
    filled = fill_rooms(network, share)
    assert np.isfinite(cost(network, filled.owner))
    again = fill_rooms(network.copy(), share.copy())
    assert again.owner.tolist() == filled.owner.tolist()
    assert again.least == filled.least


@HARD
@given(rooms(), st.integers(0, 10_000))
def test_no_owners_with_room_cost_less_than_the_bound(drawn: Drawn, seed: int) -> None:
    """Neither the fill itself nor any random owners."""
    network, share = drawn
    least = fill_rooms(network, share).least
    rng = np.random.default_rng(seed)
    for _ in range(50):
        key = np.where(np.isfinite(network), rng.random(network.shape) * share, np.inf)
        owner = key.argmin(axis=0).astype(np.intp)
        if loads(share, owner).max() <= 1:
            assert cost(network, owner) >= least * (1 - 1e-9)
    owner = fill_rooms(network, share).owner
    if loads(share, owner).max() <= 1:
        assert cost(network, owner) >= least * (1 - 1e-9)


@HARD
@given(rooms())
def test_prices_are_finite_and_not_negative_even_where_the_rooms_are_too_small(
    drawn: Drawn,
) -> None:
    network, share = drawn
    for factor in (1.0, 50.0):
        room = np.ones(len(network))
        prices = first_prices(network, factor * share, room)
        assert np.isfinite(prices).all()
        assert prices.min() >= 0


@HARD
@given(rooms(), st.integers(0, 10_000))
def test_moves_to_nearer_agents_overfill_no_room_and_cost_no_more(drawn: Drawn, seed: int) -> None:
    """Never worse than what it was given: in the end, then in the cost."""
    network, share = drawn
    rng = np.random.default_rng(seed)
    owner = np.where(np.isfinite(network), rng.random(network.shape), -1.0).argmax(axis=0)
    moved = move_nearer(network, share, owner.astype(np.intp))
    assert cost(network, moved) <= cost(network, owner) + 1e-9
    before, after = loads(share, owner), loads(share, moved)
    assert (after <= np.maximum(before, 1.0) + 1e-9).all()


def world(agents: int, atoms: int, seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    size = rng.lognormal(0, 2, atoms)
    distance = rng.lognormal(0, 0.5, (agents, 1)) * rng.lognormal(0, 0.7, (agents, atoms))
    network = size * distance
    share = network / (1.02 * lower_bound(network).makespan_ms)
    return np.where(share > 1, np.inf, network), np.where(share > 1, np.inf, share)


@pytest.mark.parametrize("seed", range(4))
def test_the_fill_is_near_the_bound_and_holds_in_the_rooms(seed: int) -> None:
    network, share = world(9, 3_000, seed)
    filled = fill_rooms(network, share)
    assert loads(share, filled.owner).max() <= 1.01
    assert cost(network, filled.owner) <= 1.05 * filled.least


def test_many_atoms_are_priced_by_a_sample_and_the_cheapest_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The prices are nearly those of all pairs."""
    network, share = world(12, 4_000, 7)
    room = np.ones(12)
    dense = first_prices(network, share, room)
    monkeypatch.setattr(room_prices, "_CELLS", 24_000)
    sampled = first_prices(network, share, room)
    pairs = pairs_of(network, share, sampled)
    assert pairs.network.shape == (8, 4_000)
    prices = sharp_prices(pairs, room, sampled)
    bound = least_network(network, share, room, dense)
    assert least_network(network, share, room, prices) >= 0.995 * bound
    filled = fill_rooms(network, share)
    assert loads(share, filled.owner).max() <= 1.01
    assert cost(network, filled.owner) <= 1.05 * bound


def test_prices_of_what_is_left_begin_with_those_of_all() -> None:
    """The same rooms give the same prices, nearly; an agent with less room becomes dearer."""
    network, share = world(5, 2_000, 3)
    room = np.ones(5)
    pairs = pairs_of(network, share, first_prices(network, share, room))
    prices = sharp_prices(pairs, room, np.zeros(5))
    assert next_prices(pairs, room, prices) == pytest.approx(prices, rel=0.05)
    less = np.array([0.8, 1.0, 1.0, 1.0, 1.0])
    some = pairs.take(np.arange(0, 2_000, 2))
    assert next_prices(some, 0.6 * less, prices)[0] > next_prices(some, 0.6 * room, prices)[0]


def test_kept_pairs_give_the_sums_of_all_pairs() -> None:
    """Of two agents both pairs are kept: gradient and curvature are the same."""
    rng = np.random.default_rng(2)
    network, share = rng.random((2, 30)), rng.random((2, 30))
    dense = Pairs(2, None, network, share, np.ones(30))
    order = np.argsort(network, axis=0)
    kept = Pairs(
        2,
        order,
        np.take_along_axis(network, order, axis=0),
        np.take_along_axis(share, order, axis=0),
        np.ones(30),
    )
    values = rng.random((2, 30))
    sorted_values = np.take_along_axis(values, order, axis=0)
    assert kept.by_agent(sorted_values) == pytest.approx(dense.by_agent(values))
    assert kept.products(sorted_values, kept.share) == pytest.approx(
        dense.products(values, dense.share)
    )
