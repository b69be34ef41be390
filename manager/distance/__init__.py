"""How far agents are from hosts, and from each other: measured, or said to be predicted.

`measured` judges the sums of a probe or a crawl, `spread` keeps how much their lines differ;
`prediction` says how far the pairs are that nobody measured; `graph` makes of all distances the
tree along which agents exchange units.
"""

from __future__ import annotations

from manager.distance.errors import DistanceError
from manager.distance.graph import SpanningTree, landmarks, network_distance, spanning_tree
from manager.distance.measured import Measured, State, ms_per_kbyte
from manager.distance.nearest import nearest_pairs
from manager.distance.prediction import Model, Places, Probes, fit
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
    "Model",
    "Places",
    "Probes",
    "Quartiles",
    "SpanningTree",
    "Spread",
    "State",
    "fit",
    "landmarks",
    "merged",
    "ms_per_kbyte",
    "nearest_pairs",
    "network_distance",
    "spanning_tree",
]
