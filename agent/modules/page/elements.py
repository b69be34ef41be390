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

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from agent.modules.page.tags import start_tags

__all__ = ["Element", "elements", "is_hard"]

Element = tuple[str, Mapping[str, str | None]]

# Only what `links.py` reads: a page may have ten thousand cells and no background.
_SELECTOR: Final = (
    "a[href], area[href], base[href], link[href], link[imagesrcset], meta, frame[src], "
    "iframe[src], script[src], img[src], img[srcset], source[src], source[srcset], audio[src], "
    "video[src], video[poster], track[src], embed[src], input[src], object[data], form[action], "
    "body[background], table[background], td[background], th[background]"
)
_WANTED: Final = frozenset(re.findall(r"\b[a-z]+(?=\[|,)", _SELECTOR))

MANY_TAGS: Final = 10_000
MAX_DEPTH: Final = 5_000
MAX_TAG_PARTS: Final = 2_000

_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_LONG_TAG: Final = re.compile(r"<[^<>]{8000}[^<>]*")
# Elements without an end tag, or whose end tag is often left out.
_WITHOUT_END: Final = frozenset(
    (
        *("area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link"),
        *("meta", "option", "p", "param", "source", "td", "th", "tr", "track", "wbr"),
    )
)


def elements(text: str) -> tuple[Iterable[Element], str]:
    """Return (tag, attributes) of each element that may carry links, and a note.

    The note is empty, or says why the plain search was used.
    """
    if is_hard(text):
        return _searched(text), "parse-simple: nested or attributed beyond reason"
    try:
        found = LexborHTMLParser(text).css(_SELECTOR)
        return [(node.tag or "", node.attributes) for node in found], ""
    except (SelectolaxError, UnicodeError, ValueError) as error:
        return _searched(text), f"parse-error: {type(error).__name__}"


def is_hard(text: str) -> bool:
    """Tell whether a text would keep the parser busy for seconds."""
    if any(len(match[0].split()) > MAX_TAG_PARTS for match in _LONG_TAG.finditer(text)):
        return True
    if text.count("<") < MANY_TAGS:
        return False
    depth = 0
    for match in _TAG.finditer(text):
        if match[2].lower() in _WITHOUT_END:
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False


def _searched(text: str) -> Iterable[Element]:
    return ((name, attributes) for name, attributes in start_tags(text) if name in _WANTED)
