"""Two numbers of each agent as bars on one scale, with a line where a bound stands.

An agent's name and figures stand above its bars, so that the drawing is narrow enough for a
telephone without losing the ends of its bars.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from manager.console import figures
from manager.console.drawings.drawing import Drawing, text_width
from manager.console.language import _, ngettext
from shared.frozen import frozen

__all__ = ["Pair", "draw_bars"]

ROW: Final = 50.0
TOP: Final = 30.0
LEFT: Final = 8.0
LENGTH: Final = 400.0
AGENTS_MOST: Final = 200


@frozen
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
    said = [f"{figures.duration(row.first_ms)} → {figures.duration(row.second_ms)}" for row in rows]
    length = max(
        [
            LENGTH,
            *(
                text_width(row.name, 13) + 24 + text_width(times, 12)
                for row, times in zip(rows, said, strict=True)
            ),
        ]
    )
    drawing = Drawing(
        name,
        LEFT + length + LEFT,
        TOP + ROW * len(rows) + 8,
        title,
        ngettext("%(num)s agent.", "%(num)s agents, the highest cost first.", len(rows)),
    )
    _legend(drawing, labels, bound_ms)
    for place, (row, times) in enumerate(zip(rows, said, strict=True)):
        y = TOP + ROW * place
        drawing.words(LEFT, y + 18, row.name, size=13)
        drawing.words(LEFT + length, y + 18, times, "soft", size=12, anchor="end")
        if row.first_ms is not None:
            drawing.box(LEFT, y + 25, length * row.first_ms / scale, 8, "before")
        if row.second_ms is not None:
            drawing.box(LEFT, y + 35, length * row.second_ms / scale, 10, "busy")
        if bound_ms:
            x = LEFT + length * bound_ms / scale
            drawing.line([(x, y + 23), (x, y + 47)], "bad", 2)
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
