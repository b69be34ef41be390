"""Two numbers of each agent as bars on one scale, with a line where a bound stands: for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from manager.console import figures
from manager.console.drawing import Drawing, text_width
from manager.console.language import _

__all__ = ["Pair", "draw_bars"]

ROW: Final = 30.0
TOP: Final = 34.0
LENGTH: Final = 360.0
AGENTS_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Pair:
    """An agent with its two times in ms; None: not known."""

    name: str
    first_ms: float | None
    second_ms: float | None


def draw_bars(
    name: str,
    title: str,
    labels: tuple[str, str],
    pairs: Sequence[Pair],
    bound_ms: float | None = None,
) -> Drawing:
    """Return the drawing of at most the first 200 agents. labels: of the first and second bar."""
    rows = pairs[:AGENTS_MOST]
    numbers = [n for row in rows for n in (row.first_ms, row.second_ms) if n is not None]
    scale = max([*numbers, bound_ms or 0.0], default=0.0) or 1.0
    left = max((text_width(row.name, 13) for row in rows), default=0.0) + 14
    right = 170.0
    drawing = Drawing(
        name,
        left + LENGTH + right,
        TOP + ROW * len(rows) + 8,
        title,
        _("%(number)s agents, the greatest first.", number=len(rows)),
    )
    _legend(drawing, labels, bound_ms)
    for place, row in enumerate(rows):
        y = TOP + ROW * place
        drawing.words(left - 8, y + 18, row.name, size=13, anchor="end")
        if row.first_ms is not None:
            drawing.box(left, y + 4, LENGTH * row.first_ms / scale, 8, "before")
        if row.second_ms is not None:
            drawing.box(left, y + 14, LENGTH * row.second_ms / scale, 10, "busy")
        said = f"{figures.duration(row.first_ms)} → {figures.duration(row.second_ms)}"
        drawing.words(left + LENGTH + 10, y + 18, said, "soft", size=12)
    if bound_ms:
        x = left + LENGTH * bound_ms / scale
        drawing.line([(x, TOP), (x, TOP + ROW * len(rows))], "bad", 2)
    return drawing


def _legend(drawing: Drawing, labels: tuple[str, str], bound_ms: float | None) -> None:
    x = 8.0
    for label, ink in zip(labels, ("before", "busy"), strict=True):
        drawing.box(x, 8, 12, 12, ink)
        drawing.words(x + 18, 18, label, size=13)
        x += 18 + text_width(label, 13) + 18
    if bound_ms:
        drawing.line([(x + 4, 6), (x + 4, 22)], "bad", 2)
        said = _("lower bound %(time)s", time=figures.duration(bound_ms))
        drawing.words(x + 12, 18, said, size=13)
