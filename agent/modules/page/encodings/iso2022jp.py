"""ISO-2022-JP, the one encoding of the web with states: an escape sequence changes what bytes mean.

    ESC ( B   ASCII                 ESC $ @, ESC $ B   JIS X 0208, two bytes a character
    ESC ( J   JIS X 0201, Roman     ESC ( I            JIS X 0201, katakana (read only)

Source: WHATWG Encoding, 13.2.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from agent.modules.page.encodings.pairs import all_pairs, jis_character

__all__ = ["decoded_iso2022jp", "encoded_iso2022jp", "jis_bytes"]

_BAD: Final = "\ufffd"
_ASCII, _ROMAN, _KATAKANA, _JIS = "ascii", "roman", "katakana", "jis0208"
_ESCAPES: Final = {
    b"\x1b(B": _ASCII,
    b"\x1b(J": _ROMAN,
    b"\x1b(I": _KATAKANA,
    b"\x1b$@": _JIS,
    b"\x1b$B": _JIS,
}
_WRITTEN: Final = {_ASCII: b"\x1b(B", _ROMAN: b"\x1b(J", _JIS: b"\x1b$B"}
# Pieces that each state reads at once: a run of known bytes, a pair whose second byte is missing or
# malformed, or one byte that it does not know.
_RUNS: Final = {
    _ASCII: re.compile(rb"[^\x0e\x0f\x1b\x80-\xff]+|[\x0e\x0f\x80-\xff]"),
    _ROMAN: re.compile(rb"[^\x0e\x0f\x1b\x80-\xff]+|[\x0e\x0f\x80-\xff]"),
    _KATAKANA: re.compile(rb"[\x21-\x5f]+|[^\x1b]"),
    _JIS: re.compile(rb"(?:[\x21-\x7e][\x21-\x7e])+|[\x21-\x7e][^\x1b]|[\x21-\x7e]|[^\x1b]"),
}
_ROMAN_SIGNS: Final = str.maketrans("\\~", "¥‾")
_SHIFTS: Final = frozenset("\x0e\x0f\x1b")
_HALF_WIDTH: Final = range(0xFF61, 0xFFA0)
_SOUND_MARKS: Final = {0xFF9E: "゛", 0xFF9F: "゜"}
_PRINTED: Final = range(0x21, 0x7F)


def decoded_iso2022jp(body: bytes) -> str:
    """Return the text of a body, U+FFFD for what is malformed."""
    out: list[str] = []
    state, at = _ASCII, 0
    wrote = True  # since the last escape sequence: two in a row are malformed
    while at < len(body):
        escape = _ESCAPES.get(body[at : at + 3])
        if escape is not None:
            if not wrote:
                out.append(_BAD)
            state, at, wrote = escape, at + 3, False
            continue
        match = _RUNS[state].match(body, at)
        if match is None:  # an escape that is none
            out.append(_BAD)
            at += 1
        else:
            out.append(_run(match[0], state))
            at = match.end()
        wrote = True
    return "".join(out)


def _run(octets: bytes, state: str) -> str:
    if state in (_ASCII, _ROMAN):
        text = octets.decode("ascii", "replace")
        if octets in (b"\x0e", b"\x0f"):
            return _BAD
        return text.translate(_ROMAN_SIGNS) if state == _ROMAN else text
    if state == _KATAKANA:
        if octets[0] not in range(0x21, 0x60):
            return _BAD
        return "".join(chr(0xFF61 + byte - 0x21) for byte in octets)
    if len(octets) % 2 or octets[-1] not in _PRINTED:
        return _BAD
    return "".join(
        jis_character(lead - 0x21, trail - 0x21) or _BAD
        for lead, trail in zip(octets[::2], octets[1::2], strict=True)
    )


@cache
def jis_bytes() -> dict[str, bytes]:
    """Return the two bytes of each character of JIS X 0208, as EUC-JP writes them."""
    found: dict[str, bytes] = {}
    for _, octets, one in all_pairs("euc_jp"):
        found.setdefault(one, octets)
    found["\u2212"] = found["\uff0d"]
    return found


def encoded_iso2022jp(text: str) -> bytes:
    """Return the bytes of a text; what the encoding lacks as an escaped reference, in ASCII."""
    out = bytearray()
    state = _ASCII
    for one in text:
        wanted, octets = _written(one, state)
        if wanted != state:
            state = wanted
            out += _WRITTEN[state]
        out += octets
    return bytes(out if state == _ASCII else out + _WRITTEN[_ASCII])


def _written(one: str, state: str) -> tuple[str, bytes]:
    """Return in which state a character is written, and its bytes there."""
    if one in _SHIFTS:
        return (_ASCII if state == _JIS else state), b"%26%2365533%3B"
    if one in "¥‾":
        return _ROMAN, b"\\" if one == "¥" else b"~"
    if one.isascii():
        keeps = state == _ROMAN and one not in "\\~"
        return (_ROMAN if keeps else _ASCII), one.encode("ascii")
    octets = jis_bytes().get(_full_width(one))
    if octets is None:
        return (_ASCII if state == _JIS else state), b"%%26%%23%d%%3B" % ord(one)
    return _JIS, bytes(byte & 0x7F for byte in octets)


def _full_width(one: str) -> str:
    if ord(one) not in _HALF_WIDTH:
        return one
    return _SOUND_MARKS.get(ord(one)) or unicodedata.normalize("NFKC", one)
