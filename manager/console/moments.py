"""Moments on pages: UTC text with its ISO form, which the browser turns into the viewer's zone.

One mechanism for all of a page. Templates write `moment(at_ms)`; sentences of operations hold
their moments as text, to the second or to the minute, and `mark_moments` marks those in the
finished page. `static/js/prepare.js` then shows every marked moment in one zone. Files (CSV, SVG,
PNG) stay in UTC and say so.
"""

from __future__ import annotations

import re
from typing import Final

from manager.console import figures

__all__ = ["mark_moments", "time_mark"]

_MOMENT: Final = re.compile(
    r"\b([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[ T\u00a0]([0-9]{2}:[0-9]{2})(:[0-9]{2})?"
    r"(?:[ \u00a0]UTC\b|Z\b)"
)
_UNMARKED: Final = frozenset(
    ("time", "code", "option", "textarea", "title", "desc", "text", "script", "style")
)
"""Elements in which no mark may stand, or whose moments are marked by their own attributes."""


def time_mark(iso: str, said: str, form: str = "") -> str:
    """Return the mark of a moment. iso, said: escaped, UTC. form: `minute`, or "" to the second."""
    value = f'="{form}"' if form else ""
    return f'<time datetime="{iso}" data-moment{value} title="{said}">{said}</time>'


def mark_moments(page: str) -> str:
    """Return a page in which each moment that stands in its text is marked.

    Attributes and elements that hold no marks keep theirs.
    """
    made: list[str] = []
    done = 0
    for found in _MOMENT.finditer(page):
        if not _is_text(page, found.start()):
            continue
        made += (page[done : found.start()], _mark_of(found))
        done = found.end()
    return "".join((*made, page[done:])) if made else page


def _is_text(page: str, at: int) -> bool:
    """Return whether a place is text, directly within an element that may hold marks."""
    opened = page.rfind("<", 0, at)
    if opened < 0:
        return True
    if page.rfind(">", opened, at) < 0:
        return False
    name = re.match(r"[a-z0-9]*", page[opened + 1 : opened + 12])
    return name is None or name[0] not in _UNMARKED


def _mark_of(found: re.Match[str]) -> str:
    year, month, day, minute, second = found.groups()
    iso = f"{year}-{month}-{day}T{minute}{second or ':00'}Z"
    said = found[0] if found[0].endswith("UTC") else f"{found[0][:-1]}{figures.GAP}UTC"
    return time_mark(iso, said, "" if second else "minute")
