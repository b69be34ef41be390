"""Resolves the character references of a raw attribute value, as `&amp;` and `&#x2f;`.

Source: HTML standard, 13.2.5.73: in an attribute `&copy=` is no reference.
"""

from __future__ import annotations

import html
import re
from typing import Final

__all__ = ["resolved"]

_REFERENCE: Final = re.compile(
    r"&(?:#[xX]?[0-9a-fA-F]{1,12};?|[A-Za-z][A-Za-z0-9]{1,31}(;|(?![A-Za-z0-9=])))"
)


def resolved(value: str) -> str:
    """Return what a raw attribute value means."""
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), value) if "&" in value else value
