"""A fingerprint of a page's text: near duplicates differ in few of its 64 bits.

SimHash over shingles of three words; where a script has no spaces, a character is a word.
Source: Charikar (2002), section 3; Manku, Jain, Das Sarma (2007), who find near duplicates among
pages of the web within 3 bits of 64.
"""

from __future__ import annotations

import re
import zlib
from typing import Final

import numpy as np

from shared.archive.http_block import header_value

__all__ = ["LEAST_WORDS", "page_text", "simhash"]

_Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]

READ_BYTES: Final = 512 * 1024
LEAST_WORDS: Final = 16
"""Less text says nothing: every second error page would be like the others."""

_TAG: Final = re.compile(r"<[^<>]*>")
_ENTITY: Final = re.compile(r"&#?[0-9A-Za-z]{1,10};")
_WORD: Final = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\W_]")
_CHARSET: Final = re.compile(rb"""charset\s*=\s*["']?([0-9A-Za-z_:.-]{2,30})""", re.IGNORECASE)


def page_text(header: bytes, body: bytes) -> str:
    """Return the text of a page in lower case, without tags; what is no text is replaced."""
    named = _CHARSET.search(header_value(header, "Content-Type") or b"") or _CHARSET.search(
        body[:2048]
    )
    charset = named[1].decode("ascii") if named else "utf-8"
    try:
        text = body[:READ_BYTES].decode(charset, "replace")
    except (LookupError, ValueError):
        text = body[:READ_BYTES].decode("utf-8", "replace")
    text = text.lower()
    for name in ("script", "style"):
        text = _without(name, text)
    return _ENTITY.sub(" ", _TAG.sub(" ", text))


def _without(name: str, text: str) -> str:
    """Cut the elements of a name out of a text; in one pass, however hostile it is."""
    kept: list[str] = []
    at = 0
    while (start := text.find(f"<{name}", at)) >= 0:
        end = text.find(f"</{name}", start)
        if end < 0:
            break
        kept += [text[at:start], " "]
        at = end + len(name) + 2
    return "".join([*kept, text[at:]])


def simhash(text: str) -> int | None:
    """Return the fingerprint of a text in lower case, None where it has too few words."""
    words = _WORD.findall(text)
    if len(words) < LEAST_WORDS:
        return None
    shingles = {" ".join(words[at : at + 3]).encode() for at in range(len(words) - 2)}
    low = np.fromiter((zlib.crc32(each) for each in shingles), np.uint64, len(shingles))
    bits = np.unpackbits(_mixed(low).view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0)
    marks = (bits * 2 > len(shingles)).astype(np.uint8)
    return int.from_bytes(np.packbits(marks).tobytes(), "big")


def _mixed(values: _Hashes) -> _Hashes:
    """Spread 32 bits over 64 (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        values = values * np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
