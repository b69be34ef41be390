"""Unicode forms of host names, for people who search and read them.

The canonical form of a name is ASCII (`shared.urls`); nothing here is a key.
Source: RFC 3492 (Punycode), RFC 5890, 2.3.2.1 (A-label), UTS 46, 4.5 (dots that people type).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["PREFIX", "folded", "narrow", "to_unicode"]

PREFIX: Final = "xn--"
_LABEL: Final = re.compile(r"(?<![a-z0-9-])xn--([a-z0-9-]{1,59})(?![a-z0-9-])")
_DOTS: Final = str.maketrans("\u3002\uff0e\uff61", "...")


def to_unicode(text: str) -> str:
    """Return a text with each A-label in it (`xn--...`) as people read it.

    A label that is none, or that would hide its content, stays unchanged.
    """
    return _LABEL.sub(_decoded, text) if PREFIX in text else text


def _decoded(match: re.Match[str]) -> str:
    try:
        label = match[1].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return match[0]
    return label if label.isprintable() and not set(label) & set("./:@ ") else match[0]


def narrow(text: str) -> str:
    """Return a text with the dots of other scripts as that of names, and full width as ASCII.

    Letters beyond ASCII stay as they are.
    """
    text = text.translate(_DOTS)
    compatible = unicodedata.normalize("NFKC", text)
    return compatible if compatible.isascii() else text


def folded(text: str) -> str:
    """Return what a person typed as names are compared: full width, upper case and dots undone."""
    return unicodedata.normalize("NFKC", text.translate(_DOTS)).casefold()
