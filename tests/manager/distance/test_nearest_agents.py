"""Each agent's nearest, as pairs."""

from __future__ import annotations

import numpy as np
import pytest

from manager.distance.errors import DistanceError
from manager.distance.nearest_agents import nearest_pairs


def test_each_pair_stands_once_ascending() -> None:
    """On a line of four each has its nearest; who is near to two is in two pairs."""
    place = np.array([0.0, 1.0, 3.0, 7.0])
    between = np.abs(place[:, None] - place)
    assert nearest_pairs(between, 1).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert len(nearest_pairs(between, 9)) == 6


@pytest.mark.parametrize("agents", [0, 1])
def test_who_is_alone_is_near_to_nobody(agents: int) -> None:
    """There is no pair."""
    assert nearest_pairs(np.zeros((agents, agents))).shape == (0, 2)


def test_equally_near_agents_are_taken_in_order() -> None:
    """No tie is left to chance, and none is near to itself."""
    assert nearest_pairs(np.zeros((3, 3)), 1).tolist() == [[0, 1], [0, 2]]


def test_a_table_that_is_not_square_is_refused() -> None:
    """With its shape."""
    with pytest.raises(DistanceError, match="shape"):
        nearest_pairs(np.zeros((2, 3)))
