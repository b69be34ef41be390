"""How far agents are from hosts, and from each other: measured, never guessed.

`estimate` turns the lines of a probe into one distance with its evidence; `network_distance` and
`spanning_tree` turn all distances into the graph along which agents exchange units.
"""

from __future__ import annotations

from manager.distance.errors import DistanceError
from manager.distance.estimate import (
    DistanceEstimate,
    Evidence,
    State,
    estimate,
    estimate_hosts,
)
from manager.distance.graph import SpanningTree, network_distance, spanning_tree

__all__ = [
    "DistanceError",
    "DistanceEstimate",
    "Evidence",
    "SpanningTree",
    "State",
    "estimate",
    "estimate_hosts",
    "network_distance",
    "spanning_tree",
]
