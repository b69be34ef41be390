"""The part of the world that a map shows, positions in it, and areas that its points lead to.

The land is a file of ours, made by `tools/world_outline.py`: equirectangular, from `NORTH` to
`SOUTH`, `WIDTH` points for all 360 degrees. A narrower part is the same land, moved and enlarged;
points and names keep their size. An area narrows lists of agents: in addresses it is
`south,west,north,east` in degrees; none reaches over the 180th meridian.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from manager.db.fleet.agent_summaries import OverviewRow
from manager.db.fleet.agents import AgentRow
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = [
    "HEIGHT",
    "NARROWEST",
    "WIDTH",
    "WORLD",
    "Area",
    "View",
    "area_of",
    "read_area",
    "view_of",
]


@frozen
class Area:
    """Degrees, north and east positive; the limits belong to it."""

    south: float
    west: float
    north: float
    east: float

    def __str__(self) -> str:
        return f"{self.south:g},{self.west:g},{self.north:g},{self.east:g}"

    def holds(self, row: AgentRow | OverviewRow) -> bool:
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


WIDTH: Final = 2000
NORTH: Final = 84.0
SOUTH: Final = -60.0
SCALE: Final = WIDTH / 360
HEIGHT: Final = round((NORTH - SOUTH) * SCALE)
NARROWEST: Final = 40.0
"""Degrees from the left edge to the right one: Japan with the seas around it."""
WIDEST: Final = 180.0
"""Of more, the whole world is drawn."""
ROOM: Final = 1.3


@frozen
class View:
    """The part of the world that is drawn: its upper left corner, and points a degree."""

    west: float
    north: float
    scale: float

    @property
    def zoom(self) -> float:
        """Return the scale of the map."""
        return self.scale / SCALE

    @property
    def land(self) -> str:
        """Return the outline of the land, as an SVG path."""
        right, down = (-180 - self.west) * self.scale, (self.north - NORTH) * self.scale
        return f"translate({right:.1f} {down:.1f}) scale({self.zoom:.4f})"

    def place(self, latitude: float, longitude: float) -> tuple[int, int]:
        """Return a position in points; a position beyond the edge is moved onto it."""
        x = round((longitude - self.west) * self.scale)
        y = round((self.north - latitude) * self.scale)
        return min(WIDTH, max(0, x)), min(HEIGHT, max(0, y))


WORLD: Final = View(-180.0, NORTH, SCALE)


def view_of(places: Sequence[tuple[float, float]]) -> View:
    """Return the part that holds some places, each (latitude, longitude), with room for names.

    The agents of one country would lie on a finger's breadth of the world. Nothing narrower than
    `NARROWEST`: the outline of the land has no more to show.
    """
    if not places:
        return WORLD
    area = area_of(places)
    tall = (area.north - area.south) * WIDTH / HEIGHT
    width = max(NARROWEST, ROOM * (area.east - area.west), ROOM * tall)
    if width > WIDEST:
        return WORLD
    height = width * HEIGHT / WIDTH
    west = (area.west + area.east - width) / 2
    north = (area.south + area.north + height) / 2
    return View(
        min(180 - width, max(-180, west)), min(NORTH, max(SOUTH + height, north)), WIDTH / width
    )
