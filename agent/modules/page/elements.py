"""HTML to the few elements that carry links, in document order.

The parser is a browser's (lexbor), so comments, scripts and broken nesting mean what they mean
to a reader. Text that is known to stop it (elements nested ten thousand deep, thousands of
attributes in one tag: its time grows with the square) goes to the plain search for tags, and so
does text that it fails on. The limits of the worker process are what guards against the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from selectolax.lexbor import LexborCSSSelector, LexborHTMLParser, SelectolaxError

from agent.modules.page.tags import start_tags

__all__ = ["Element", "elements", "is_hard"]

Element = tuple[str, Mapping[str, str | None]]

# What `links.py` reads. Asked for by attribute, because the parser compares every element with
# every part of a selector: by tag and attribute it takes twice as long.
_SELECTOR: Final = (
    "[href], [src], [srcset], [action], [background], [data], [imagesrcset], [poster], meta"
)
_WANTED: Final = frozenset(
    (
        *("a", "area", "audio", "base", "body", "embed", "form", "frame", "iframe", "img"),
        *("input", "link", "meta", "object", "script", "source", "table", "td", "th", "track"),
        "video",
    )
)

MAX_DEPTH: Final = 5_000
MAX_TAG_PARTS: Final = 2_000
LONG_TAG: Final = 8_000  # characters: MAX_TAG_PARTS attributes do not go into fewer
PIECE: Final = 32 * 1024  # characters

_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_LONG_TAG: Final = re.compile(rf"<[^<>]{{{LONG_TAG}}}[^<>]*")
# Elements without an end tag, or whose end tag is often left out.
_WITHOUT_END: Final = frozenset(
    (
        *("area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link"),
        *("meta", "option", "p", "param", "source", "td", "th", "tr", "track", "wbr"),
    )
)

# One for all pages: to make it takes as long as to parse a small page.
_selection: Final = LexborCSSSelector()  # type: ignore[no-untyped-call]  # its stub lacks a type


def elements(text: str) -> tuple[Iterable[Element], str]:
    """Return (tag, attributes) of each element that may carry links, and a note.

    The note is empty, or says why the plain search was used.
    """
    if is_hard(text):
        return _searched(text), "parse-simple: nested or attributed beyond reason"
    try:
        root = LexborHTMLParser(text).root
        if root is None:
            return [], ""
        found = _selection.find(_SELECTOR, root)
        return [(name, node.attributes) for node in found if (name := node.tag) in _WANTED], ""
    except (SelectolaxError, UnicodeError, ValueError) as error:
        return _searched(text), f"parse-error: {type(error).__name__}"


def is_hard(text: str) -> bool:
    """Tell whether a text would keep the parser busy for seconds."""
    if _may_have_long_tag(text) and any(
        len(match[0].split()) > MAX_TAG_PARTS for match in _LONG_TAG.finditer(text)
    ):
        return True
    if not _may_be_deep(text):
        return False
    depth = 0
    for match in _TAG.finditer(text):
        if match[2].lower() in _WITHOUT_END:
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False


def _may_have_long_tag(text: str) -> bool:
    """Tell whether a stretch of text has no end of a tag for long: one look in each stretch."""
    stretch = LONG_TAG // 2  # so a long tag holds one of them whole
    return any(
        text.find(">", start, start + stretch) < 0
        for start in range(0, len(text) - stretch, stretch)
    )


def _may_be_deep(text: str) -> bool:
    """Tell whether tags that nobody closes are so many that depth must be counted exactly.

    Every `<` that is not `</` counts as if it opened an element. What stood before a piece can
    not matter more than its depth, nor what stands in it more than what it opens.
    """
    if text.count("<") <= MAX_DEPTH:
        return False
    depth = 0
    for start in range(0, len(text), PIECE):
        tags = text.count("<", start, start + PIECE)
        ends = text.count("</", start, start + PIECE + 1)
        opened = tags - ends
        if depth + opened > MAX_DEPTH:
            return True
        depth = max(opened, depth + opened - ends)
    return False


def _searched(text: str) -> Iterable[Element]:
    return ((name, attributes) for name, attributes in start_tags(text) if name in _WANTED)
