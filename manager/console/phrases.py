"""Sentences of operations, which are English, in the language of the page.

Operations say what, value, limit and remedy in English: to logs, `/api/v1`, `prsm`, and into rows
that stay. The console knows the frequent ones by their shape, with a name where a value stands, and
says them in its own language; any other is shown as it came. So operations know of no language, and
a sentence that was written down years ago is translated like one of now. A test holds each shape
against the source, so that one which nobody says any more is found.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from manager.console.language import Lazy, current, lazy

__all__ = ["PHRASES", "spoken"]

LONGEST: Final = 2000
PHRASES: Final[tuple[Lazy, ...]] = (lazy("User name or password is wrong."),)
"""Shapes, the more particular before the more general. `%(name)s` is any text."""


def spoken(text: str | None) -> str | None:
    """Return a sentence of an operation in the language of this request, or as it is."""
    if not text or current() == "en" or len(text) > LONGEST:
        return text
    for shape, phrase in _shapes():
        found = shape.fullmatch(text)
        if found is not None:
            said = str(phrase)
            values = {name: spoken(value) for name, value in found.groupdict().items()}
            return said % values if values else said
    return text


@cache
def _shapes() -> list[tuple[re.Pattern[str], Lazy]]:
    return [(re.compile(_pattern(phrase.text), re.DOTALL), phrase) for phrase in PHRASES]


def _pattern(text: str) -> str:
    parts = re.split(r"%\((\w+)\)s", text)
    return "".join(
        f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
    )
