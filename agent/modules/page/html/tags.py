"""Finds start tags in HTML text without building a tree: one pass, whatever the text.

For the search for a charset in the first kilobyte, and for pages that the parser cannot take.
It knows comments, raw text elements, quoting and character references, and no nesting.
Source: the tokenizer of the HTML standard, 13.2.5, simplified.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

__all__ = ["MAX_ATTRIBUTES", "Attributes", "start_tags"]

Attributes = dict[str, str]

MAX_ATTRIBUTES: Final = 200
"""Of one tag; the ones behind are skipped."""

_OPEN: Final = re.compile(r"<(?:!--|([a-zA-Z][^\s/>]{0,40})|[/!?])")
_ATTRIBUTE: Final = re.compile(
    r"""[\s/]*+(?:(>)|([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?)"""
)
_REFERENCE: Final = re.compile(r"&#?[0-9A-Za-z]{1,32};")
_RAW: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp")
}


def start_tags(text: str) -> Iterator[tuple[str, Attributes]]:
    """Yield (name, attributes) of each start tag, in lower case, values with references resolved.

    Of two attributes with one name the first counts. An unfinished tag at the end is none.
    """
    at = 0
    while (match := _OPEN.search(text, at)) is not None:
        at = match.end()
        name = match[1]
        if name is None:
            closing = "-->" if match[0] == "<!--" else ">"
            # `<!-->` is a whole comment.
            end = text.find(closing, at - 2 if closing == "-->" else at)
            if end < 0:
                return
            at = end + len(closing)
            continue
        name = name.lower()
        attributes: Attributes = {}
        while (part := _ATTRIBUTE.match(text, at)) is not None:
            at = part.end()
            if part[1]:
                break
            if len(attributes) < MAX_ATTRIBUTES:
                value = part[3] or part[4] or part[5] or ""
                attributes.setdefault(part[2].lower(), _REFERENCE.sub(_resolved, value))
        else:
            return
        yield name, attributes
        raw = _RAW.get(name)
        if raw is not None:
            end_tag = raw.search(text, at)
            if end_tag is None:
                return
            at = end_tag.start()


def _resolved(match: re.Match[str]) -> str:
    return html.unescape(match[0])
