"""Versions of releases, and which of two is newer.

A version is two to four numbers with dots, as `1.4.0`; nothing else is a release. `1.4` and `1.4.0`
are the same place in the order, and different names: a release has one of them.
"""

from __future__ import annotations

import re
from typing import Final

from shared.errors import FormatError

__all__ = ["is_version", "version_key"]

_FORM: Final = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){1,3}")
_PARTS: Final = 4


def is_version(text: str) -> bool:
    """Return whether a text names a release."""
    return _FORM.fullmatch(text) is not None


def version_key(text: str) -> tuple[int, ...]:
    """Return what versions are ordered by. Raises FormatError."""
    if not is_version(text):
        raise FormatError("times.version", version=text[:40])
    numbers = [int(part) for part in text.split(".")]
    return tuple(numbers + [0] * (_PARTS - len(numbers)))
