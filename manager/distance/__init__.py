"""Distances between agents and hosts, and among agents: measured or marked as predicted.

`measured_distance` judges the sums of a probe or a crawl, `spread` keeps how much their lines
differ; `prediction` predicts unmeasured distances from `training_data`; `minimum_spanning_tree`
makes of all distances the tree along which agents exchange units. `distance_bounds` bounds an
agent's claims, `control_hosts` compares agents over a few hosts that all of them probe, `doubts`
finds claims that fit neither an agent's past nor the view of the others, `line_counts` finds
omitted or invented lines, `fetch_windows` the time of each right,
`clock_evidence` checks each claim by the manager's own clock, `clock_fit` all of them together.
"""

from __future__ import annotations

from manager.distance.clock_evidence import Pace, Timed, find_pace
from manager.distance.clock_fit import ClockFit, Fits, fit_claims
from manager.distance.control_hosts import (
    AgentDeviation,
    ControlProbe,
    find_deviations,
    unreliable_hosts,
)
from manager.distance.distance_bounds import (
    bounded_distances,
    excess_nearness,
    overall_factor,
)
from manager.distance.doubts import (
    OTHERS_LEAST,
    Claim,
    Doubt,
    Evidence,
    Fault,
    Reference,
    change_of_times,
    find_doubts,
    reference_of,
    usual_changes,
)
from manager.distance.errors import DistanceError
from manager.distance.fetch_windows import FetchInterval
from manager.distance.line_counts import (
    LineRange,
    change_of_lines,
    find_line_doubt,
    with_right_lines,
)
from manager.distance.measured_distance import Measured, State, ms_per_kbyte
from manager.distance.minimum_spanning_tree import (
    SpanningTree,
    landmarks,
    network_distance,
    spanning_tree,
)
from manager.distance.nearest_agents import nearest_pairs
from manager.distance.prediction import Model, Places, Probes, fit
from manager.distance.spread import (
    BINS_AN_OCTAVE,
    LEAST_MS_PER_KB,
    Quartiles,
    Spread,
    merged,
)
from manager.distance.training_data import TrainingData, TrainingResult, train

__all__ = [
    "BINS_AN_OCTAVE",
    "LEAST_MS_PER_KB",
    "OTHERS_LEAST",
    "AgentDeviation",
    "Claim",
    "ClockFit",
    "ControlProbe",
    "DistanceError",
    "Doubt",
    "Evidence",
    "Fault",
    "FetchInterval",
    "Fits",
    "LineRange",
    "Measured",
    "Model",
    "Pace",
    "Places",
    "Probes",
    "Quartiles",
    "Reference",
    "SpanningTree",
    "Spread",
    "State",
    "Timed",
    "TrainingData",
    "TrainingResult",
    "bounded_distances",
    "change_of_lines",
    "change_of_times",
    "excess_nearness",
    "find_deviations",
    "find_doubts",
    "find_line_doubt",
    "find_pace",
    "fit",
    "fit_claims",
    "landmarks",
    "merged",
    "ms_per_kbyte",
    "nearest_pairs",
    "network_distance",
    "overall_factor",
    "reference_of",
    "spanning_tree",
    "train",
    "unreliable_hosts",
    "usual_changes",
    "with_right_lines",
]
