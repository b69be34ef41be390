"""Lines over a logarithmic or linear axis as an SVG file, without another package.

A figure is a white sheet with a frame, grid lines at round numbers, one polyline with dots for each
series, and the names beside it. Colours are Okabe and Ito's (2008), told apart by everybody.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final, TypeAlias

__all__ = ["Figure", "Points", "draw"]

Points: TypeAlias = Sequence[tuple[float, float]]

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
WIDTH, HEIGHT = 720, 420
FONT: Final = 'font-family="sans-serif" font-size="12"'
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 52, 60


@dataclass(frozen=True)
class Figure:
    """A chart to draw. log_x, log_y: powers of two and of ten."""

    title: str
    x: str
    y: str
    series: Mapping[str, Points]
    log_x: bool = True
    log_y: bool = False


def draw(path: Path, figure: Figure) -> None:
    """Write a figure to a file."""
    every = [point for points in figure.series.values() for point in points]
    across = _Axis([x for x, _ in every], LEFT, WIDTH - RIGHT, 2 if figure.log_x else 0)
    up = _Axis([y for _, y in every], HEIGHT - BOTTOM, TOP, 10 if figure.log_y else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" {FONT}>',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{escape(figure.title)}</text>',
    ]
    for value, label in across.ticks():
        x = across.place(value)
        parts.append(_line(x, TOP, x, HEIGHT - BOTTOM))
        parts.append(_text(x, HEIGHT - BOTTOM + 18, label, "middle"))
    for value, label in up.ticks():
        y = up.place(value)
        parts.append(_line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(_text(LEFT - 8, y + 4, label, "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, figure.x, "middle"))
    parts.append(_text(LEFT, TOP - 6, figure.y, "start"))
    for number, (name, points) in enumerate(figure.series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(across.place(x), up.place(y)) for x, y in points]
        path_points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{path_points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        y = TOP + 14 + 18 * number
        parts.append(f'<rect x="{WIDTH - RIGHT + 12}" y="{y - 8}" width="10" height="10" ')
        parts.append(f'fill="{colour}"/>')
        parts.append(_text(WIDTH - RIGHT + 28, y + 1, name, "start"))
    parts.append("</svg>\n")
    path.write_text("\n".join(parts))


class _Axis:
    def __init__(self, values: Sequence[float], start: float, end: float, log: int) -> None:
        self._log = log
        used = [value for value in values if value > 0] if log else list(values)
        least, most = (min(used), max(used)) if used else (0.0, 1.0)
        if not log:
            self._step = _round_step(most - least or abs(most) or 1.0)
            least = math.floor(least / self._step) * self._step
            most = math.ceil(most / self._step) * self._step
        self._least, self._most = self._scaled(least), self._scaled(most)
        if self._most <= self._least:
            self._most = self._least + 1
        self._start, self._end = start, end

    def place(self, value: float) -> float:
        if self._log and value <= 0:
            return self._start
        share = (self._scaled(value) - self._least) / (self._most - self._least)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[tuple[float, str]]:
        if not self._log:
            count = round((self._most - self._least) / self._step)
            values = [self._least + number * self._step for number in range(count + 1)]
            return [(value, f"{value:.4g}") for value in values]
        first, last = math.ceil(self._least - 1e-9), math.floor(self._most + 1e-9)
        if self._log == 10 and last - first < 2:
            return self._ticks_within_decades()
        every = max(1, math.ceil((last - first) / 8))
        return [
            (float(self._log**exponent), f"{self._log}^{exponent}")
            for exponent in range(first, last + 1, every)
        ]

    def _ticks_within_decades(self) -> list[tuple[float, str]]:
        least, most = self._log**self._least, self._log**self._most
        decades = range(math.floor(self._least), math.floor(self._most) + 1)
        values = [times * 10.0**decade for decade in decades for times in (1, 2, 5)]
        return [(value, f"{value:g}") for value in values if least <= value <= most]

    def _scaled(self, value: float) -> float:
        return math.log(value, self._log) if self._log else value


def _round_step(span: float) -> float:
    rough = span / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    return next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough * 0.999)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
