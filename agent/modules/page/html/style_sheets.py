"""Reads the references of a style sheet, of `<style>` and of `style=`.

    @import "base.css" screen;        base.css
    @font-face { src: url(f.woff2) }  f.woff2
    background: image-set("a.png" 1x) a.png, as of image("a.png")
    filter: AlphaImageLoader(src="a") a, in old Internet Explorers

Comments and strings are passed as a browser passes them; `@namespace` names no file. What is
broken is read on behind. One pass: each alternative of the pattern takes what it looks at.
Source: CSS Syntax 3, 4.3.6 (url tokens), 4.3.7 (escapes); CSS Images 4, 2.3 (image-set).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["style_references"]

_TOKEN: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z)"""
    r"""|(?P<url>(?:url|src)\(\s*+(?:"(?P<dq>(?:[^"\\\n]|\\(?:[0-9a-fA-F]{1,6}\s?|.))*)"?|'(?P<sq>(?:[^'\\\n]|\\(?:[0-9a-fA-F]{1,6}\s?|.))*)'?"""
    r"""|(?P<bare>(?:[^\s"'()\\]|\\(?:[0-9a-fA-F]{1,6}+\s?+|[^0-9a-fA-F]))*)(?=\s*+(?:\)|\Z))))"""
    r"""|(?P<at>@import\b|@namespace\b)"""
    r"""|AlphaImageLoader\((?:[^()'"]|"[^"()]{0,100}"|'[^'()]{0,100}'){0,200}?\bsrc\s*=\s*(?:"(?P<adq>[^"\\\n]{1,2000})"|'(?P<asq>[^'\\\n]{1,2000})')"""
    r"""|(?P<set>(?:(?:-webkit-)?image-set|\bimage)\()"""
    r"""|"(?P<dstring>(?:[^"\\\n]|\\(?:[0-9a-fA-F]{1,6}\s?|.))*)"?|'(?P<sstring>(?:[^'\\\n]|\\(?:[0-9a-fA-F]{1,6}\s?|.))*)'?"""
    r"""|(?P<end>[;{}()])""",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\f\r]?|(\r\n|[\n\f\r])|(.))", re.DOTALL)
_NAME_WITH_ESCAPES: Final = re.compile(
    r"(?<![\\A-Za-z0-9-])(?=[@A-Za-z-]{0,9}\\)"
    r"(?:[@A-Za-z-]|\\[0-9a-fA-F]{1,6}+[ \t\n\f\r]?+){2,20}(?=[(\"'\s])"
)
_NAMES: Final = frozenset(("url", "src", "@import", "image-set", "-webkit-image-set"))
_MOST: Final = 0x10FFFF


def style_references(text: str) -> Iterator[str]:
    """Yield the references of a style sheet, as they are meant, in order."""
    if "\\" in text:
        text = _NAME_WITH_ESCAPES.sub(_plain_name, text)
    rule = ""  # the at-rule whose name was just read
    depth = 0  # of brackets within an image-set
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind is None:  # a comment
            continue
        if match["adq"] or match["asq"]:
            yield match["adq"] or match["asq"]
            continue
        if match["at"]:
            rule = match["at"].lower()
        elif match["set"]:
            depth = 1
        elif match["end"]:
            rule = "" if match["end"] in ";{}" else rule
            if depth:
                depth += {"(": 1, ")": -1}.get(match["end"], -depth)
        elif match["url"]:
            value = match["dq"] or match["sq"] or match["bare"] or ""
            if rule != "@namespace" and value:
                yield _meant(value)
            rule = ""
            if depth:
                depth += 1  # its end bracket follows
        else:
            value = match["dstring"] or match["sstring"] or ""
            if value and (rule == "@import" or depth == 1):
                yield _meant(value)
            rule = ""


def _plain_name(match: re.Match[str]) -> str:
    """Return a name that loads without its escapes (`u\\72l`), any other text unchanged."""
    name = _meant(match[0])
    return name if name.lower() in _NAMES else match[0]


def _meant(value: str) -> str:
    return _ESCAPE.sub(_character, value) if "\\" in value else value


def _character(match: re.Match[str]) -> str:
    if match[1]:
        number = int(match[1], 16)
        if number == 0 or number > _MOST or 0xD800 <= number <= 0xDFFF:
            return "\ufffd"
        return chr(number)
    return match[3] or ""
