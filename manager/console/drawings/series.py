"""Numbers over time as a drawing: lines over a grid, with what they mean above them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from manager.console.drawings.drawing import Drawing, Instant, text_width
from shared.frozen import frozen

__all__ = ["Line", "draw_series", "scale_of"]

WIDTH: Final = 480.0
HEIGHT: Final = 210.0
TOP: Final = 34.0
BOTTOM: Final = 24.0
RIGHT: Final = 14.0
TICKS: Final = 4
DOTS_MOST: Final = 40
LABELS_APART: Final = 12.0
STILL_OPEN: Final = "1 4"


@frozen
class Line:
    """One line: what it is, its ink, a number at each place (None: not known), and how drawn.

    Later lines lie on earlier ones: where two may say the same, the one below is `wide`.
    """

    label: str
    ink: str
    numbers: Sequence[float | None]
    dash: str = ""
    filled: bool = False
    wide: bool = False

    @property
    def width(self) -> float:
        """Return the width of the drawing."""
        return 5 if self.wide else 2


def scale_of(greatest: float) -> tuple[float, int]:
    """Return a round step of the grid, and how many of them hold the greatest number."""
    if greatest <= 0:
        return 1.0, 1
    rough = greatest / TICKS
    size = 1.0
    while size * 10 <= rough:
        size *= 10
    while size > rough:
        size /= 10
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
    count = 1
    while step * count < greatest * (1 - 1e-9):
        count += 1
    return step, count


def draw_series(
    name: str,
    title: str,
    description: str,
    places: Sequence[str],
    lines: Sequence[Line],
    said: Callable[[float], str],
    *,
    moments: Sequence[Instant] = (),
    runs_on: str = "",
) -> Drawing:
    """Return the drawing. places: the label below each place. said: formats a number of the grid.

    moments: of the places, if they are times. runs_on: the label of the last place if its period
    is not over yet: it lies on a band with this label, and lines to it are dotted.
    """
    drawing = Drawing(name, WIDTH, HEIGHT, title, description)
    greatest = max((n for line in lines for n in line.numbers if n is not None), default=0.0)
    step, count = scale_of(greatest)
    marks = [said(step * number) for number in range(count + 1)]
    left = max(text_width(mark, 12) for mark in marks) + 12
    width, floor = WIDTH - left - RIGHT, HEIGHT - BOTTOM

    def at(place: int, number: float) -> tuple[float, float]:
        across = 0.5 if len(places) < 2 else place / (len(places) - 1)
        return left + width * across, floor - (floor - TOP) * number / (step * count)

    if runs_on and len(places) > 1:
        _mark_unfinished(drawing, at(len(places) - 1, 0), width / (len(places) - 1), runs_on)
    for tick, mark in enumerate(marks):
        y = at(0, step * tick)[1]
        drawing.line([(left, y), (WIDTH - RIGHT, y)], "faint")
        drawing.words(left - 6, y + 4, mark, "soft", size=12, anchor="end")
    _label(drawing, places, moments, left, width)
    for line in lines:
        for part in _parts(line.numbers):
            points = [at(place, number) for place, number in part]
            open_end = bool(runs_on) and part[-1][0] == len(places) - 1
            over = points[:-1] if open_end else points
            if line.filled and len(over) > 1:
                drawing.area([(over[0][0], floor), *over, (over[-1][0], floor)], line.ink, 0.18)
            if len(over) > 1:
                drawing.line(over, line.ink, line.width, line.dash)
            if open_end and len(points) > 1:
                drawing.line(points[-2:], line.ink, line.width, STILL_OPEN)
            if len(places) <= DOTS_MOST or len(points) == 1:
                for (place, number), (x, y) in zip(part, points, strict=True):
                    tip = f"{places[place]} {line.label} {said(number)}"
                    unfinished = bool(runs_on) and place == len(places) - 1
                    if unfinished:
                        tip = f"{tip} ({runs_on})"
                    moment = moments[place] if moments else None
                    radius = line.width / 2 + 1.5
                    drawing.dot(x, y, radius, line.ink, tip, at=moment, hollow=unfinished)
    _legend(drawing, lines, left)
    if moments:
        drawing.zone(WIDTH - RIGHT, 16)
    return drawing


def _mark_unfinished(
    drawing: Drawing, foot: tuple[float, float], step: float, runs_on: str
) -> None:
    """Lay a band under the last place, and say above it that it is not over."""
    x, floor = foot
    begin = x - min(step, 40) / 2
    drawing.box(begin, TOP, WIDTH - RIGHT / 2 - begin, floor - TOP, "faint")
    drawing.words(WIDTH - RIGHT / 2, TOP - 4, runs_on, "soft", size=11, anchor="end")


def _parts(numbers: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Return the stretches of a line that are known, each of its places and numbers."""
    parts: list[list[tuple[int, float]]] = [[]]
    for place, number in enumerate(numbers):
        if number is None:
            parts.append([])
        else:
            parts[-1].append((place, number))
    return [part for part in parts if part]


def _label(
    drawing: Drawing,
    places: Sequence[str],
    moments: Sequence[Instant],
    left: float,
    width: float,
) -> None:
    """Write as many of the places below as there is room for, the last among them."""
    if not places:
        return
    widest = max(text_width(place, 12) for place in places) + LABELS_APART
    room = max(1, int(width // widest))
    apart = -(-len(places) // room)
    for place in range(len(places) - 1, -1, -apart):
        across = 0.5 if len(places) < 2 else place / (len(places) - 1)
        half = text_width(places[place], 12) / 2
        x = min(left + width * across, WIDTH - half - 2)
        drawing.words(
            max(x, half + 2),
            HEIGHT - 6,
            places[place],
            "soft",
            size=12,
            anchor="middle",
            at=moments[place] if moments else None,
        )


def _legend(drawing: Drawing, lines: Sequence[Line], left: float) -> None:
    x = left
    for line in lines:
        drawing.line([(x, 12), (x + 18, 12)], line.ink, line.width + 1, line.dash)
        drawing.words(x + 24, 16, line.label, "ink", size=13)
        x += 24 + text_width(line.label, 13) + 20
