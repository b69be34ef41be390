"""The part of the world that a map shows, and positions in it.

The land is a file of ours, made by `tools/world_outline.py`: equirectangular, from `NORTH` to
`SOUTH`, `WIDTH` points for all 360 degrees. A narrower part is the same land, moved and enlarged;
points and names keep their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from manager.console.drawings.map_area import area_of
from shared.frozen import frozen

__all__ = ["HEIGHT", "NARROWEST", "WIDTH", "WORLD", "View", "view_of"]

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
