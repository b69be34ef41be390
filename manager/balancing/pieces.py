"""Cut a big host into pieces for several agents: few directories, even work.

    cut({"/": 10, "/a/": 400, "/b/": 200, "/b/x/": 190}, parts=2)  ->  [{"/a/"}, {"/"}]

A unit holds the pages of its directory but for those in longer units (`shared.units`). So a cut
is a set of directories, `/` always among them, and each part of the host is some of these.
Invariants: each page lies in exactly one part; no more than `most_units` units; no part is longer
than the mean and the longest directory that could not be cut further (Graham's bound on what is
given out longest first).
Source: design 4, "waiting dominates"; Graham (1969), Bounds on multiprocessing timing anomalies.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from manager.balancing.errors import BalancingError
from shared.frozen import frozen

__all__ = ["MOST_UNITS", "Cut", "cut"]

MOST_UNITS: Final = 200
"""Units of one host: each is a line for one agent, and an exception for all others around it."""

FINENESS: Final = (1, 2, 4, 8, 16)
"""A directory is cut while it is longer than a part divided by this; the coarsest that is even
wins, because few units are few lines."""

EVEN: Final = 1.1
"""The longest part over the mean from which a finer cut is not worth more units."""

CRUMB: Final = 0.001
"""Of a part: less than this is not worth a unit."""

TOP: Final = "/"


@frozen
class Cut:
    """parts: the units of each, the part that holds `/` first. weights: the work of each part."""

    parts: tuple[frozenset[str], ...]
    weights: tuple[float, ...]

    @property
    def units(self) -> int:
        """Return how many units there are."""
        return sum(map(len, self.parts))

    @property
    def unevenness(self) -> float:
        """Return the longest part over the mean; 1 is even, as many as there are parts is none."""
        mean = sum(self.weights) / len(self.weights)
        return max(self.weights) / mean if mean else 1.0


def cut(weights: Mapping[str, float], parts: int, most_units: int = MOST_UNITS) -> Cut:
    """Cut a host into at most so many parts; fewer where its directories give no more.

    weights: the work of the pages that lie in a directory and in none of those named below it, in
    any unit; directories begin and end with `/`. Raises BalancingError for numbers and paths that
    mean nothing.
    """
    _check(weights, parts, most_units)
    limit = sum(weights.values()) / parts
    best: Cut | None = None
    for fineness in FINENESS:
        made = _given_out(_Tree(weights).atoms(limit / fineness, most_units), parts)
        if best is None or made.unevenness < best.unevenness - 1e-9:
            best = made
        if best.unevenness <= EVEN:
            break
    assert best is not None, "there is at least one fineness"
    return best


def _check(weights: Mapping[str, float], parts: int, most_units: int) -> None:
    if parts < 1:
        raise BalancingError("balancing.too_small", name="parts", value=parts, least=1)
    if most_units < 1:
        raise BalancingError("balancing.too_small", name="most_units", value=most_units, least=1)
    for path, weight in weights.items():
        if not (path.startswith("/") and path.endswith("/")):
            raise BalancingError("balancing.directory_slashes", path=path[:80])
        if not 0 <= weight < float("inf"):
            raise BalancingError("balancing.directory_work", path=path[:80], work=weight)


class _Tree:
    """The directories of a host, with the work in and below each."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.below: dict[str, float] = defaultdict(float)
        self.children: dict[str, set[str]] = defaultdict(set)
        self.below[TOP] = 0.0
        for path, weight in weights.items():
            around: str | None = path
            while around is not None:
                self.below[around] += weight
                outer = _around(around)
                if outer is not None:
                    self.children[outer].add(around)
                around = outer

    def atoms(self, limit: float, most: int) -> dict[str, float]:
        """Return units with their work; a unit longer than `limit` could not be cut further.

        Repeatedly splits the longest directory off the longest unit.
        """
        atoms = {TOP: self.below[TOP]}
        inside = {TOP: self._candidates(TOP)}
        longest = [(-atoms[TOP], TOP)]
        opened: set[str] = set()
        while longest and len(atoms) < most:
            weight, path = heapq.heappop(longest)
            if -weight <= limit or not inside[path]:
                continue
            taken_weight, taken = heapq.heappop(inside[path])
            if not taken_weight:
                continue
            atoms[path] += taken_weight
            atoms[taken] = -taken_weight
            opened.add(path)
            inside[taken] = self._candidates(taken)
            heapq.heappush(longest, (-atoms[path], path))
            heapq.heappush(longest, (-atoms[taken], taken))
        return _without_crumbs(atoms, opened, limit)

    def _candidates(self, path: str) -> list[tuple[float, str]]:
        """Return the directories right below one, as a heap with the longest first."""
        found = [(-self.below[child], child) for child in self.children.get(path, ())]
        heapq.heapify(found)
        return found


def _without_crumbs(atoms: dict[str, float], opened: set[str], limit: float) -> dict[str, float]:
    """Leave a directory that was cut until hardly anything is left to the unit around it."""
    kept = dict(atoms)
    for path in sorted(opened - {TOP}, key=len, reverse=True):
        if kept[path] <= limit * CRUMB:
            outer = _unit_around(path, kept)
            assert outer is not None, "only `/` has nothing around it"
            kept[outer] += kept.pop(path)
    return kept


def _given_out(atoms: Mapping[str, float], parts: int) -> Cut:
    """Distribute units, longest first, each to the part that has least so far."""
    owner: dict[str, int] = {}
    loads = [(0.0, part) for part in range(parts)]
    for path in sorted(atoms, key=lambda path: (-atoms[path], path)):
        load, part = heapq.heappop(loads)
        owner[path] = part
        heapq.heappush(loads, (load + atoms[path], part))
    weight_of = {part: load for load, part in loads}
    units: dict[int, set[str]] = defaultdict(set)
    for path, part in owner.items():
        outer = _unit_around(path, owner)
        # A unit whose surroundings are in the same part lies in it anyway.
        if outer is None or owner[outer] != part:
            units[part].add(path)
    order = sorted(units, key=lambda part: (TOP not in units[part], -weight_of[part], part))
    return Cut(
        tuple(frozenset(units[part]) for part in order), tuple(weight_of[part] for part in order)
    )


def _around(path: str) -> str | None:
    return None if path == TOP else path[: path.rindex("/", 0, len(path) - 1) + 1]


def _unit_around(path: str, units: Mapping[str, object]) -> str | None:
    """Return the longest other unit that a unit lies in; None for `/`."""
    outer = _around(path)
    while outer is not None and outer not in units:
        outer = _around(outer)
    return outer
