"""Encodings of one byte a character: a table of 256 characters each, U+FFFD where there is none.

Python's tables are those of their vendors. The standard adds the C1 control of the same number for
a byte below 0xA0 that a vendor left out, and a few characters.
Source: WHATWG Encoding, 9 (legacy single-byte encodings) and 14.5 (x-user-defined).
"""

from __future__ import annotations

from functools import cache
from typing import Final

__all__ = ["SINGLE_BYTE", "byte_of", "table"]

SINGLE_BYTE: Final = frozenset(
    (
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
        *(f"cp125{digit}" for digit in range(9)),
        *("cp866", "cp874", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "x-user-defined"),
    )
)

_FIRST_UPPER: Final = 0xA0
_PRIVATE: Final = 0xF780
_ADDED: Final = {("koi8-u", 0xAE): "ў", ("koi8-u", 0xBE): "Ў", ("cp1255", 0xCA): "\u05ba"}


@cache
def table(codec: str) -> str:
    """Return the characters of all bytes in a single-byte encoding."""
    if codec == "x-user-defined":
        return "".join(chr(byte if byte < 0x80 else _PRIVATE + byte - 0x80) for byte in range(256))
    return "".join(_character(codec, byte) for byte in range(256))


def _character(codec: str, byte: int) -> str:
    added = _ADDED.get((codec, byte))
    if added is not None:
        return added
    character = bytes((byte,)).decode(codec, "ignore")
    return character or (chr(byte) if byte < _FIRST_UPPER else "\ufffd")


@cache
def byte_of(codec: str) -> dict[str, bytes]:
    """Return the byte of each character that a single-byte encoding has."""
    found: dict[str, bytes] = {}
    for byte, character in enumerate(table(codec)):
        if character != "\ufffd":
            found.setdefault(character, bytes((byte,)))
    return found
