"""Text to the bytes of a query, as the encoders of the Encoding Standard write it.

What an encoding lacks becomes the character reference `&#N;`, percent-escaped already, as in a form
that a browser sends.
Source: WHATWG Encoding, 9 to 14 (encoders); WHATWG URL, 1.3 (percent-encode after encoding).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from agent.modules.page.encodings.iso2022jp import encoded_iso2022jp, jis_bytes
from agent.modules.page.encodings.pairs import GB18030_CHANGES, all_pairs
from agent.modules.page.encodings.single_byte import SINGLE_BYTE, byte_of

__all__ = ["encoded"]

_AS_UTF8: Final = frozenset(("utf-8", "utf-16-le", "utf-16-be", "replacement"))
_NEC_SELECTED: Final = range(8272, 8836)  # pointers of cp932 that repeat characters of IBM's
_USER_DEFINED: Final = range(8836, 10716)  # those that are decoded only
_HKSCS_END: Final = (0xA1 - 0x81) * 157  # pointers of Big5 below it are decoded only
_LAST_OF_BIG5: Final = frozenset("\u2550\u255e\u2561\u256a\u5341\u5345")
_DECODED_ONLY: Final = "\ue5e5"
_PRIVATE_IN_GB18030: Final = {
    pair.decode("gb18030"): pair for pair in GB18030_CHANGES if pair[0] in (0xA6, 0xFE)
}


def encoded(text: str, codec: str) -> bytes:
    """Return the bytes of a text, `%26%23N%3B` for what the encoding lacks.

    codec: as `codec_of` names it. A page in UTF-16, or without an encoding, writes UTF-8.
    """
    if codec in _AS_UTF8:
        return text.encode("utf-8", "replace")
    if codec == "iso2022_jp":
        return encoded_iso2022jp(text)
    known = _known(codec)
    return b"".join(
        one.encode("ascii") if one.isascii() else known.get(one) or _other(one, codec)
        for one in text
    )


def _other(one: str, codec: str) -> bytes:
    """Return the bytes of a character that no table has."""
    if codec == "gb18030" and one != _DECODED_ONLY:
        if one == "\ue7c7":
            return b"\x81\x35\xf4\x37"
        return one.encode("gb18030", "replace")  # four bytes
    return b"%%26%%23%d%%3B" % ord(one)


@cache
def _known(codec: str) -> Mapping[str, bytes]:
    """Return the bytes of each character that is written without a special rule."""
    if codec in SINGLE_BYTE:
        return byte_of(codec)
    if codec == "euc_jp":
        half_width = {chr(0xFF61 + byte - 0xA1): bytes((0x8E, byte)) for byte in range(0xA1, 0xE0)}
        return jis_bytes() | half_width | {"¥": b"\\", "‾": b"~"}
    if codec == "cp932":
        return _shift_jis()
    if codec == "big5hkscs":
        return _big5()
    found: dict[str, bytes] = {}
    for _, octets, one in all_pairs("gb18030" if codec == "gbk" else codec):
        found.setdefault(one, octets)
    if codec in ("gb18030", "gbk"):
        found |= _PRIVATE_IN_GB18030
    if codec == "gbk":
        found["€"] = b"\x80"
    return found


def _shift_jis() -> Mapping[str, bytes]:
    found = {"\x80": b"\x80", "¥": b"\\", "‾": b"~"}
    found |= {chr(0xFF61 + byte - 0xA1): bytes((byte,)) for byte in range(0xA1, 0xE0)}
    for pointer, octets, one in all_pairs("cp932"):
        if pointer not in _NEC_SELECTED and pointer not in _USER_DEFINED:
            found.setdefault(one, octets)
    found["\u2212"] = found["\uff0d"]
    return found


def _big5() -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    for pointer, octets, one in all_pairs("big5hkscs"):
        if pointer >= _HKSCS_END and len(one) == 1:
            if one in _LAST_OF_BIG5:
                found[one] = octets
            else:
                found.setdefault(one, octets)
    return found
