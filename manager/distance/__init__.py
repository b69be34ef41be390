"""How far agents are from hosts, and from each other: measured, never guessed.

`measured` judges the sums of a probe or a crawl, `spread` keeps how much their lines differ;
`network_distance`, `spanning_tree` and `nearest_pairs` turn all distances into the graph along
which agents exchange units.
"""

from __future__ import annotations

from manager.distance.errors import DistanceError
from manager.distance.graph import SpanningTree, network_distance, spanning_tree
from manager.distance.measured import Measured, State, ms_per_kbyte
from manager.distance.nearest import nearest_pairs
from manager.distance.spread import (
    BINS_AN_OCTAVE,
    LEAST_MS_PER_KB,
    Quartiles,
    Spread,
    merged,
)

__all__ = [
    "BINS_AN_OCTAVE",
    "LEAST_MS_PER_KB",
    "DistanceError",
    "Measured",
    "Quartiles",
    "SpanningTree",
    "Spread",
    "State",
    "merged",
    "ms_per_kbyte",
    "nearest_pairs",
    "network_distance",
    "spanning_tree",
]
