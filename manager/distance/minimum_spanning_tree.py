"""Distances among agents, and the minimum spanning tree along which they exchange units.

Two agents are near when they see the same hosts near: the network distance of i and j is the
least d(i, s) + d(j, s) over hosts s that both have measured. It is a landmark estimate; no agent
need accept a connection. Prim's minimum spanning tree over it says who exchanges with whom.
Invariant: equal matrices give equal trees; of equal distances the lower agent numbers win. The next
tree keeps an edge of the last unless another is shorter by a margin: measurements differ from day
to day, and who exchanges with whom should not.
Source: seed 004, section 5.2.1, figure 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from manager.distance.errors import DistanceError

__all__ = ["MARGIN", "SpanningTree", "landmarks", "network_distance", "spanning_tree"]

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]

_CELLS_AT_ONCE: Final = 1 << 18
"""Cells of the matrix in one block: agents x hosts that stay in the processor's cache."""
_WHEN_NOTHING_IS_KNOWN: Final = 1.0
MARGIN: Final = 0.25
"""A new edge must be a quarter shorter than the one it replaces: two probes of the same pair differ
by up to 30%, and the least of many sums by less."""
LANDMARKS: Final = 10_000
"""With 200 agents the distances of agents take a second then."""


@dataclass(frozen=True)
class SpanningTree:
    """edges: (agents - 1, 2) agent indices, the lower first, ascending. lengths: (agents - 1,)."""

    edges: npt.NDArray[np.intp]
    lengths: npt.NDArray[np.float64]


def landmarks(distance: Matrix, most: int = LANDMARKS) -> npt.NDArray[np.intp]:
    """Return which hosts tell agents apart: those that most measured, at least two; ascending.

    distance: (agents, hosts) as for `network_distance`. Of equals the first hosts.
    """
    seen = np.isfinite(distance).sum(axis=0)
    order = np.argsort(-seen, kind="stable")[:most]
    return np.sort(order[seen[order] > 1])


def network_distance(distance: Matrix) -> npt.NDArray[np.float64]:
    """Return (agents, agents) the distance of each two agents; symmetric, 0 on the diagonal.

    distance: (agents, hosts) ms per KByte, nan where not measured, inf where unreachable. Two
    agents without a host in common take the largest distance known, or 1 where none is. Needs
    memory for one block of hosts besides the matrix; time grows with agents^2 x hosts.
    """
    agents, hosts = distance.shape
    near = np.full((agents, agents), np.inf)
    width = max(1, _CELLS_AT_ONCE // max(1, agents))
    for start in range(0, hosts, width):
        given = distance[:, start : start + width]
        block = np.where(np.isnan(given), np.inf, given)
        if block.min(initial=0) < 0:
            raise DistanceError("distance.negative")
        through = np.empty_like(block)
        for agent in range(agents - 1):
            sums = np.add(block[agent + 1 :], block[agent], out=through[agent + 1 :])
            least = near[agent, agent + 1 :]
            np.minimum(least, sums.min(axis=1), out=least)
    upper = np.triu_indices(agents, 1)
    known = near[upper]
    reached = known[np.isfinite(known)]
    farthest = float(reached.max()) if len(reached) else _WHEN_NOTHING_IS_KNOWN
    whole = np.zeros((agents, agents))
    whole[upper] = np.where(np.isfinite(known), known, farthest)
    return whole + whole.T


def spanning_tree(
    between: npt.NDArray[np.float64],
    before: Sequence[tuple[int, int]] = (),
) -> SpanningTree:
    """Return Prim's minimum spanning tree over the distances of agents.

    between: (agents, agents), symmetric and finite, from `network_distance`. before: edges of the
    last tree; each counts as shorter by the margin. Each edge weighs its rank by (length,
    agents), so that the tree is unique and no tie is left to chance.
    """
    agents = len(between)
    if between.shape != (agents, agents) or not np.isfinite(between).all():
        raise DistanceError("distance.bad_shape", shape=between.shape)
    weighed = between.astype(np.float64)
    for one, other in before:
        weighed[min(one, other), max(one, other)] *= 1 - MARGIN
    first, second = np.triu_indices(agents, 1)
    order = np.lexsort((second, first, weighed[first, second]))
    # A twentieth of the imports of a manager that starts, and plans are made by its children.
    import networkx as nx  # noqa: PLC0415

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(agents))
    graph.add_weighted_edges_from(
        (int(first[edge]), int(second[edge]), rank) for rank, edge in enumerate(order.tolist())
    )
    found = nx.minimum_spanning_edges(graph, algorithm="prim", data=False)
    edges = np.array(sorted(tuple(sorted(edge)) for edge in found), dtype=np.intp).reshape(-1, 2)
    return SpanningTree(edges, between[edges[:, 0], edges[:, 1]].astype(np.float64))
