"""A part of the map, by which lists of agents are narrowed: it is what a point of the map leads to.

In addresses it is `south,west,north,east` in degrees; none reaches over the 180th meridian.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from manager.db.fleet.agent_summaries import GlanceRow
from manager.db.fleet.agents import AgentRow
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["Area", "area_of", "read_area"]


@frozen
class Area:
    """Degrees, north and east positive; the limits belong to it."""

    south: float
    west: float
    north: float
    east: float

    def __str__(self) -> str:
        return f"{self.south:g},{self.west:g},{self.north:g},{self.east:g}"

    def holds(self, row: AgentRow | GlanceRow) -> bool:
        """Return whether an agent lies in the area; an agent without a position does not."""
        if row.latitude is None or row.longitude is None:
            return False
        return self.south <= row.latitude <= self.north and self.west <= row.longitude <= self.east


def area_of(places: Sequence[tuple[float, float]]) -> Area:
    """Return the least part that holds some places, each (latitude, longitude)."""
    latitudes, longitudes = zip(*places, strict=True)
    return Area(min(latitudes), min(longitudes), max(latitudes), max(longitudes))


def read_area(text: str) -> Area | None:
    """Return the part that a filter names; None of an empty one. Raises FormatError."""
    if not text:
        return None
    try:
        south, west, north, east = map(float, text.split(","))
    except ValueError:
        south = west = north = east = math.nan
    if not all(map(math.isfinite, (south, west, north, east))):
        raise FormatError("console.area", value=text[:60])
    return Area(south, west, north, east)
