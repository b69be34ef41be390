"""Draw the land of a TopoJSON file as one SVG path, for the map of agents.

Equirectangular, 84 degrees north to 60 south, 2000 wide: whole numbers, so that the file is small.
Antarctica, where no agent is, is left out. `manager/console/drawings/map_view.py` places points by
the same numbers. Source: the TopoJSON specification, 2.1.3 (quantised, delta-encoded arcs).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["outline"]

WIDTH = 2000
NORTH, SOUTH = 84, -60
SCALE = WIDTH / 360
HEIGHT = round((NORTH - SOUTH) * SCALE)
SMALLEST = 3  # points of a ring; fewer enclose nothing

Point = tuple[int, int]


def outline(topology: bytes) -> bytes:
    """Return the SVG of the land in a TopoJSON file whose object is `land`."""
    found = json.loads(topology)
    arcs = [list(_arc(arc, found["transform"])) for arc in found["arcs"]]
    rings = [_ring(ring, arcs) for ring in _rings(found["objects"]["land"])]
    drawn = "".join(_path(each) for ring in rings if len(ring) >= SMALLEST for each in _shown(ring))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<path id="land" d="{drawn}"/></svg>\n'
    ).encode()


def _rings(geometry: dict[str, Any]) -> Iterator[Sequence[int]]:
    if geometry["type"] == "GeometryCollection":
        for each in geometry["geometries"]:
            yield from _rings(each)
    elif geometry["type"] == "MultiPolygon":
        for polygon in geometry["arcs"]:
            yield from polygon
    elif geometry["type"] == "Polygon":
        yield from geometry["arcs"]


def _arc(arc: Sequence[Sequence[int]], transform: dict[str, Any]) -> Iterator[tuple[float, float]]:
    (step_x, step_y), (from_x, from_y) = transform["scale"], transform["translate"]
    x = y = 0
    for move_x, move_y in arc:
        x, y = x + move_x, y + move_y
        yield x * step_x + from_x, y * step_y + from_y


def _ring(numbers: Sequence[int], arcs: Sequence[Sequence[tuple[float, float]]]) -> list[Point]:
    """Return a ring in pixels; a negative number is an arc backwards (its complement).

    One that crosses the date line continues beyond the map's edge.
    """
    points: list[Point] = []
    for number in numbers:
        arc = arcs[number] if number >= 0 else arcs[~number][::-1]
        for longitude, latitude in arc:
            x, y = round((longitude + 180) * SCALE), round((NORTH - latitude) * SCALE)
            if points:
                x += WIDTH * round((points[-1][0] - x) / WIDTH)
            if not points or points[-1] != (x, y):
                points.append((x, y))
    return points


def _shown(ring: Sequence[Point]) -> Iterator[Sequence[Point]]:
    """Yield a ring at each place where some of it is on the map."""
    if min(y for _, y in ring) >= HEIGHT:
        return
    for shift in (-WIDTH, 0, WIDTH):
        moved = [(x + shift, y) for x, y in ring]
        if max(x for x, _ in moved) > 0 and min(x for x, _ in moved) < WIDTH:
            yield moved


def _path(ring: Sequence[Point]) -> str:
    (x, y), *others = ring
    words = [f"M{x} {y}l"]
    for to_x, to_y in others:
        words.append(f"{to_x - x},{to_y - y} ")
        x, y = to_x, to_y
    return "".join(words).rstrip() + "z"
