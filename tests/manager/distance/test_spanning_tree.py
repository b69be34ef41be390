"""Agents are near when they see the same hosts near; Prim's tree joins them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.distance.errors import DistanceError
from manager.distance.minimum_spanning_tree import landmarks, network_distance, spanning_tree

NAN, INF = np.nan, np.inf
cell = st.one_of(st.just(NAN), st.just(INF), st.integers(0, 6).map(float), st.floats(0, 1e6))


@st.composite
def matrices(draw: st.DrawFn) -> npt.NDArray[np.float64]:
    """Draw distances with gaps, ties and what is unreachable."""
    agents, hosts = draw(st.integers(1, 6)), draw(st.integers(0, 6))
    row = st.lists(cell, min_size=hosts, max_size=hosts)
    rows = draw(st.lists(row, min_size=agents, max_size=agents))
    return np.array(rows, dtype=np.float64).reshape(agents, hosts)


def test_the_nearest_common_host_decides() -> None:
    """The least sum over hosts that both have measured."""
    between = network_distance(np.array([[1.0, 5.0, NAN], [9.0, 2.0, 0.1], [NAN, 3.0, INF]]))
    assert between.tolist() == [[0, 7, 8], [7, 0, 5], [8, 5, 0]]


def test_strangers_take_the_largest_distance_known() -> None:
    """Two agents without a common host are as far apart as any two are."""
    between = network_distance(np.array([[1.0, NAN], [6.0, NAN], [NAN, 1.0]]))
    assert between[0, 2] == between[1, 2] == between[0, 1] == 7


def test_when_nothing_is_known_all_are_1_apart() -> None:
    """Before the first probe every pair is at distance 1."""
    between = network_distance(np.full((3, 4), NAN))
    assert between.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_an_unreachable_host_is_no_landmark() -> None:
    """A host that one of them cannot reach says nothing about the two."""
    between = network_distance(np.array([[1.0, 4.0], [INF, 4.0]]))
    assert between[0, 1] == 8


@given(matrices())
def test_it_is_the_minimum_written_out(distance: npt.NDArray[np.float64]) -> None:
    """The blocks of arrays compute what the definition says, symmetric with zeros inside."""
    between = network_distance(distance)
    agents = len(distance)
    known = {}
    for i, j in combinations(range(agents), 2):
        sums = [a + b for a, b in zip(distance[i], distance[j], strict=True) if a + b < INF]
        if sums:
            known[i, j] = min(sums)
    farthest = max(known.values(), default=1.0)
    for i, j in combinations(range(agents), 2):
        assert between[i, j] == between[j, i] == known.get((i, j), farthest)
    assert (np.diag(between) == 0).all()


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same however the hosts are cut into blocks, in either width of float."""
    rng = np.random.default_rng(2)
    distance = rng.lognormal(size=(7, 100)).astype(np.float32)
    distance[rng.random(distance.shape) < 0.4] = NAN
    whole = network_distance(distance)
    monkeypatch.setattr("manager.distance.minimum_spanning_tree._CELLS_AT_ONCE", 20)
    assert np.array_equal(network_distance(distance), whole)


def test_the_callers_matrix_is_not_changed() -> None:
    """Gaps are filled in a copy."""
    distance = np.array([[1.0, NAN], [NAN, 2.0]])
    network_distance(distance)
    assert np.isnan(distance[0, 1])


def test_negative_distances_are_refused() -> None:
    """No time is negative."""
    with pytest.raises(DistanceError, match="negative"):
        network_distance(np.array([[1.0], [-1.0]]))


def test_the_tree_of_a_line() -> None:
    """Agents along a line are joined in their order."""
    place = np.array([0.0, 1.0, 3.0, 6.0])
    tree = spanning_tree(np.abs(place[:, None] - place))
    assert tree.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert tree.lengths.tolist() == [1, 2, 3]


def test_of_equal_distances_the_first_agents_win() -> None:
    """Where all are equally far the tree is a star around the first."""
    tree = spanning_tree(np.ones((5, 5)) - np.eye(5))
    assert tree.edges.tolist() == [[0, 1], [0, 2], [0, 3], [0, 4]]


@given(matrices())
def test_the_tree_spans_and_is_minimal(distance: npt.NDArray[np.float64]) -> None:
    """Every agent is reached by agents - 1 edges, and no other tree is shorter."""
    between = network_distance(distance)
    tree = spanning_tree(between)
    agents = len(distance)
    assert tree.edges.shape == (agents - 1, 2)
    component = list(range(agents))
    # Kruskal, written out: the greedy choice by length must cost the same.
    cost = 0.0
    for i, j in sorted(combinations(range(agents), 2), key=lambda pair: (between[pair], pair)):
        if component[i] != component[j]:
            cost += between[i, j]
            old, new = component[j], component[i]
            component = [new if one == old else one for one in component]
    assert tree.lengths.sum() == pytest.approx(cost)
    reached = {0}
    for _ in range(agents):
        reached |= {end for edge in tree.edges.tolist() if reached & {*edge} for end in edge}
    assert reached == set(range(agents))


@given(matrices())
def test_equal_matrices_give_equal_trees(distance: npt.NDArray[np.float64]) -> None:
    """Ties, of which the matrices are full, are broken the same way every time."""
    first, again = (spanning_tree(network_distance(distance.copy())) for _ in range(2))
    assert np.array_equal(first.edges, again.edges)
    assert first.edges.tolist() == sorted(first.edges.tolist())


@pytest.mark.parametrize("agents", [0, 1])
def test_nobody_and_one(agents: int) -> None:
    """Without a second agent there is no edge."""
    tree = spanning_tree(network_distance(np.ones((agents, 3))))
    assert tree.edges.shape == (0, 2)


@pytest.mark.parametrize("between", [np.ones((2, 3)), np.full((2, 2), NAN)])
def test_only_whole_distances_make_a_tree(between: npt.NDArray[np.float64]) -> None:
    """A matrix with gaps is refused: fill it with network_distance."""
    with pytest.raises(DistanceError, match="square and finite"):
        spanning_tree(between)


def test_a_tree_survives_noise_of_a_tenth() -> None:
    """Measured again 10% off, agents keep at least nine tenths of their neighbours."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        place = rng.random((40, 3))
        hosts = rng.random((600, 3))
        distance = np.linalg.norm(place[:, None] - hosts, axis=2) * rng.lognormal(3, 0.5, 600)
        tree = spanning_tree(network_distance(distance))
        for _ in range(3):
            noisy = distance * (1 + rng.uniform(-0.1, 0.1, distance.shape))
            later = spanning_tree(network_distance(noisy), tree.edges.tolist())
            edges = {tuple(edge) for edge in tree.edges.tolist()}
            kept = edges & {tuple(edge) for edge in later.edges.tolist()}
            assert len(kept) >= 0.9 * 39
            tree = later


def test_an_edge_goes_when_another_is_shorter_by_the_margin() -> None:
    """A fifth shorter is not enough, a third is."""
    between = np.array([[0, 1, 5.0], [1, 0, 3], [5, 3, 0]])
    before = spanning_tree(between)
    assert before.edges.tolist() == [[0, 1], [1, 2]]
    for length, edges in ((2.4, [[0, 1], [1, 2]]), (2.0, [[0, 1], [0, 2]])):
        between[0, 2] = between[2, 0] = length
        later = spanning_tree(between, before.edges.tolist())
        assert later.edges.tolist() == edges
        assert later.lengths.tolist() == [between[tuple(edge)] for edge in edges]


def test_landmarks_are_the_hosts_that_most_measured() -> None:
    """A host that one agent measured tells nobody apart."""
    distance = np.array([[1, NAN, 1, 1, NAN], [1, 1, INF, 1, NAN], [NAN, NAN, 1, 1, NAN]])
    assert landmarks(distance).tolist() == [0, 2, 3]
    assert landmarks(distance, 1).tolist() == [3]
