"""Drawings by the server as SVG: one text for a page and for a separate file.

Each shape says its colours twice: as attributes, which hold in a file (for print, on white), and as
a class, by which the style sheet of the page gives it the colours of the look. So nothing is ever
written as a style, which the pages' Content-Security-Policy forbids, and one text serves both.
Invariant: everything that is written into it is escaped, with hidden characters made visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup, escape
from starlette.responses import Response

from manager.console.visible_text import visible
from shared.frozen import frozen

__all__ = ["PAPER", "Drawing", "Instant", "svg_download", "text_width"]

PAPER: Final = {
    "ink": "#17212b",
    "soft": "#586673",
    "faint": "#d9dfe3",
    "ground": "#ffffff",
    "calm": "#8d9ba6",
    "before": "#a9b8c2",
    "busy": "#1f6fb2",
    "good": "#1b7a47",
    "warn": "#96610a",
    "bad": "#b3322b",
}
"""The colours of a file by their names; in a page `.ink-busy` and the like say which."""
FONT: Final = "Inter, Helvetica Neue, Arial, sans-serif"


def text_width(text: str, size: float = 13, *, bold: bool = False) -> float:
    """Return about how wide a text is in the font of drawings; wide signs count double.

    Bold signs are as wide as DejaVu's, which many systems have instead of those of `FONT`.
    """
    usual = 0.7 if bold else 0.56
    return sum(1.0 if ord(sign) > 0x2E7F else usual for sign in text) * size


@frozen
class Instant:
    """A moment that a text of a drawing says in UTC, for the browser to say in the viewer's zone.

    iso: it, as machines read it. said: the part of the text. form: `time` or `day`, of
    `prepare.js`.
    """

    iso: str
    said: str
    form: str

    @property
    def marks(self) -> str:
        """Return the attributes of the text."""
        return f' data-at="{self.iso}" data-form="{self.form}" data-said="{_said(self.said)}"'


@dataclass
class Drawing:
    """A drawing in points of the screen. name: an id in its page, `[a-z-]+`.

    title, description: what it shows, for who does not see it.
    """

    name: str
    width: float
    height: float
    title: str
    description: str
    _shapes: list[str] = field(default_factory=list)

    def line(
        self, points: Iterable[tuple[float, float]], ink: str, width: float = 1.0, dash: str = ""
    ) -> None:
        """Draw a line through points."""
        path = " ".join(f"{_short(x)},{_short(y)}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._shapes.append(
            f'<polyline class="line-{ink}" points="{path}" fill="none" stroke="{PAPER[ink]}" '
            f'stroke-width="{_short(width)}" stroke-linejoin="round"{dashes}/>'
        )

    def area(self, points: Iterable[tuple[float, float]], ink: str, opacity: float = 1.0) -> None:
        """Fill a shape."""
        path = " ".join(f"{_short(x)},{_short(y)}" for x, y in points)
        seen = f' fill-opacity="{_short(opacity)}"' if opacity < 1 else ""
        self._shapes.append(
            f'<polygon class="ink-{ink}" points="{path}" fill="{PAPER[ink]}"{seen}/>'
        )

    def box(self, x: float, y: float, width: float, height: float, ink: str) -> None:
        """Fill a rectangle."""
        self._shapes.append(
            f'<rect class="ink-{ink}" x="{_short(x)}" y="{_short(y)}" width="{_short(width)}" '
            f'height="{_short(height)}" fill="{PAPER[ink]}"/>'
        )

    def zone(self, x: float, y: float) -> None:
        """Name the zone of the drawing's times, ending at a place: UTC, or the viewer's."""
        self._shapes.append(
            f'<text class="ink-soft" x="{_short(x)}" y="{_short(y)}" fill="{PAPER["soft"]}" '
            'font-size="12" text-anchor="end" data-zone="">UTC</text>'
        )

    def dot(
        self,
        x: float,
        y: float,
        radius: float,
        ink: str,
        tip: str = "",
        *,
        at: Instant | None = None,
        hollow: bool = False,
    ) -> None:
        """Draw a point. tip: the tooltip; at: the moment in the tooltip."""
        marks = at.marks if at is not None else ""
        said = f"<title{marks}>{_said(tip)}</title>" if tip else ""
        if hollow:
            self._shapes.append(
                f'<circle class="line-{ink}" cx="{_short(x)}" cy="{_short(y)}" '
                f'r="{_short(radius)}" fill="none" stroke="{PAPER[ink]}" stroke-width="1.5" '
                f'pointer-events="all">{said}</circle>'
            )
            return
        self._shapes.append(
            f'<circle class="ink-{ink}" cx="{_short(x)}" cy="{_short(y)}" r="{_short(radius)}" '
            f'fill="{PAPER[ink]}">{said}</circle>'
        )

    def words(
        self,
        x: float,
        y: float,
        text: str,
        ink: str = "ink",
        *,
        size: float = 13,
        anchor: str = "start",
        bold: bool = False,
        at: Instant | None = None,
    ) -> None:
        """Write a text; y: of its base line; at: the moment that it says."""
        marks = at.marks if at is not None else ""
        weight = ' font-weight="600"' if bold else ""
        self._shapes.append(
            f'<text class="ink-{ink}" x="{_short(x)}" y="{_short(y)}" fill="{PAPER[ink]}" '
            f'font-size="{_short(size)}" text-anchor="{anchor}"{weight}{marks}>{_said(text)}</text>'
        )

    @property
    def svg(self) -> Markup:
        """Return the drawing for a page; at its full width, so that the box scrolls."""
        return Markup("{}").format(self._text(""))  # the parts were escaped one by one

    @property
    def file(self) -> str:
        """Return the drawing as a file, on white paper."""
        paper = (
            f'<rect width="{_short(self.width)}" height="{_short(self.height)}" fill="#ffffff"/>'
        )
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{self._text(paper)}\n'

    def _text(self, paper: str) -> Markup:
        wide, high = _short(self.width), _short(self.height)
        return Markup(  # noqa: S704  # every part was escaped when it was drawn
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawn" width="{wide}" height="{high}" '
            f'viewBox="0 0 {wide} {high}" role="img" '
            f'aria-labelledby="{self.name}-title {self.name}-desc" font-family="{FONT}">'
            f'<title id="{self.name}-title">{_said(self.title)}</title>'
            f'<desc id="{self.name}-desc">{_said(self.description)}</desc>'
            f"{paper}{''.join(self._shapes)}</svg>"
        )


def _said(text: str) -> str:
    return str(escape(visible(text)))


def _short(number: float) -> str:
    """Return a number to a tenth: more is not seen, and each drawing has thousands."""
    return f"{number:.1f}".removesuffix(".0")


def svg_download(drawing: Drawing, name: str) -> Response:
    """Return the answer that a browser saves as `name`.svg; PNG is made of it by the browser."""
    return Response(
        drawing.file,
        media_type="image/svg+xml; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.svg"'},
    )
