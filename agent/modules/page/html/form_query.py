"""Writes names and values as a form sends them: `application/x-www-form-urlencoded`.

    [("q", "x y"), ("日", "1\\n2")]    q=x+y&%E6%97%A5=1%0D%0A2

In another encoding than UTF-8 what that lacks becomes `&#N;`, escaped like any other text.
Source: WHATWG URL, 5.2 (serializer); HTML standard, 4.10.21.8 (line breaks).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from agent.modules.page.encodings import encoded, is_unicode

__all__ = ["Pair", "query_of"]

Pair = tuple[str, str | None]
"""A name and its value; None: the name of the encoding that the form is sent in."""

_LINE_BREAK: Final = re.compile(r"\r\n?|\n")
_PLAIN: Final = re.compile(r"[A-Za-z0-9*._-]*")
_RUN: Final = re.compile(r"[\0-\x7f]+|[^\0-\x7f]+")
_TO_ESCAPE: Final = re.compile(rb"[^A-Za-z0-9*._ -]")
_LACKING: Final = b"%26%23"
"""How `encoded` begins what an encoding lacks."""


def query_of(pairs: Iterable[Pair], codec: str) -> str:
    """Return a query in ASCII. codec: the encoding of the form, as `codec_of` names it."""
    return "&".join(f"{_part(name, codec)}={_part(value or '', codec)}" for name, value in pairs)


def _part(text: str, codec: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    text = _LINE_BREAK.sub("\r\n", text)
    if is_unicode(codec) or text.isascii():
        return _escaped(text.encode("utf-8", "replace"))
    return "".join(
        _escaped(run.encode()) if run.isascii() else _in_encoding(run, codec)
        for run in _RUN.findall(text)
    )


def _in_encoding(run: str, codec: str) -> str:
    """Return characters beyond ASCII; those that the encoding lacks are escaped already."""
    parts = []
    for lacks, ones in groupby(run, lambda one: encoded(one, codec).startswith(_LACKING)):
        octets = encoded("".join(ones), codec)
        parts.append(octets.decode("ascii") if lacks else _escaped(octets))
    return "".join(parts)


def _escaped(octets: bytes) -> str:
    return (
        _TO_ESCAPE.sub(lambda one: b"%%%02X" % one[0][0], octets).decode("ascii").replace(" ", "+")
    )
