"""Guesses the encoding of a page that does not name it, from its bytes and its top-level domain.

In this order: UTF-16 by its NUL bytes, ISO-2022-JP by its escapes, UTF-8 where all is valid, an
East Asian encoding in which the bytes are the characters of every text, and what Firefox would
guess (chardetng). All but the first two leave ASCII unchanged, so no guess loses a link.
The East Asian look comes first since it needs two characters where chardetng needs a sentence:
bytes of EUC-JP, GBK, EUC-KR and Big5 are valid in one another, but become rare characters there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from agent.modules.page.encodings import decoded
from agent.modules.page.encodings.common_characters import COMMON
from agent.modules.page.encodings.encoding_labels import codec_of
from shared.urls import split_host

__all__ = ["guessed_charset", "is_utf8", "top_level_domain", "unmarked_charset"]

FALLBACK: Final = "cp1252"
SAMPLE_BYTES: Final = 8192
MOST_PIECES: Final = 2000
HEAD_BYTES: Final = 256

SURE: Final = 0.55
"""Mean weight of the characters of a text from which its encoding is believed."""

_SURE_BESIDE_RUSSIAN: Final = 0.9  # where the bytes are Russian words as well

FEWEST: Final = 2
"""Characters beyond ASCII; one alone says nothing."""

_COMMON_WEIGHT: Final = 1.0
_KANA_WEIGHT: Final = 0.93
_ORDINARY_WEIGHT: Final = 0.25
_RARE_WEIGHT: Final = -0.5
_BROKEN_WEIGHT: Final = -4.0
_HOME: Final = 0.2  # what the country of a domain adds

_OUTSIDE_ASCII: Final = re.compile(rb"[\x80-\xff]")
_JIS_SHIFT: Final = re.compile(rb"\x1b\$[@B]")
# Text and values of attributes alike: the text between two marks of HTML.
_PIECE: Final = re.compile(rb"[^<>\"'=&\x00-\x1f]*[\x80-\xff][^<>\"'=&\x00-\x1f]*")
_MAC_WORD: Final = re.compile(rb"[\x80-\x9f\xdf-\xfe][\xdf-\xfe]{2,}")
_RUSSIAN: Final = ("koi8-r", "cp1251")
_RUSSIAN_WORD: Final = re.compile(
    "(?<![a-zA-Z])(?:[А-ЯЁ]?[а-яё]{2,}|[А-ЯЁ]{3,})(?![а-яёa-zA-ZА-ЯЁ])"
)
_VOWELS: Final = frozenset("аеёиоуыэюя")
_SHORT_BYTES: Final = 64
_ALIASES: Final = {"cp874": "windows-874"}  # chardetng_py says what Python knows
_KANA: Final = re.compile("[\u3041-\u309f\u30a1-\u30fc]")
_ORDINARY: Final = {
    "cp932": re.compile("[\u3000-\u301f\u30fb\uff01-\uff5e]"),
    "euc_jp": re.compile("[\u3000-\u301f\u30fb\uff01-\uff5e]"),
    "gbk": re.compile("[\u3000-\u301f\u2014\u2018-\u201d\u2026\xb7\uff01-\uff5e]"),
    "big5hkscs": re.compile("[\u3000-\u301f\u2027\u2026\uff01-\uff5e]"),
    "cp949": re.compile("[\u3000-\u301f\xb7\u2018-\u201d\uff01-\uff5e]"),
}
# The first half of each set of characters, which its makers chose by use.
_LEVEL_ONE: Final = {
    "cp932": (b"\x88\x9f", b"\x98\x72"),
    "euc_jp": (b"\xb0\xa1", b"\xcf\xd3"),
    "gbk": (b"\xb0\xa1", b"\xd7\xf9"),
    "big5hkscs": (b"\xa4\x40", b"\xc6\x7e"),
    "cp949": (b"\xb0\xa1", b"\xc8\xfe"),
}
_COUNTRIES: Final = {
    "cp932": ("jp",),
    "euc_jp": ("jp",),
    "gbk": ("cn", "sg", "xn--fiqs8s", "xn--fiqz9s"),
    "big5hkscs": ("tw", "hk", "mo", "xn--kprw13d", "xn--kpry57d", "xn--j6w193g"),
    "cp949": ("kr", "xn--3e0b707e"),
}


def guessed_charset(body: bytes, country: str = "") -> str:
    """Return the codec that a page's bytes look like. country: the host's top-level domain."""
    first = _OUTSIDE_ASCII.search(body)
    if first is None or is_utf8(body):
        return unmarked_charset(body)
    wide = _wide(body)
    if wide:
        return wide
    pieces = _pieces(body, first.start())
    return _east_asian(pieces, country) or _as_firefox(pieces, country)


def unmarked_charset(body: bytes) -> str:
    """Return the codec of a page that is valid in UTF-8: ASCII with escapes or NULs is, too."""
    wide = _wide(body)
    if wide:
        return wide
    return "iso2022_jp" if body.isascii() and _JIS_SHIFT.search(body) else "utf-8"


def top_level_domain(url: str) -> str:
    """Return the last label of a canonical URL's host: `jp`; "" of an address."""
    name = split_host(url)[1]
    label = name.rpartition(".")[2]
    return "" if name.startswith("[") or label.isdecimal() or "." not in name else label


def _wide(body: bytes) -> str:
    """Return UTF-16 where each second byte of the head is NUL: markup without a mark."""
    head = body[:HEAD_BYTES]
    if b"\0" not in head:
        return ""
    even, odd = head[::2], head[1::2]
    for first, second, codec in ((even, odd, "utf-16-be"), (odd, even, "utf-16-le")):
        if 4 * first.count(0) > 3 * len(first) and not second.count(0):
            return codec
    return ""


def is_utf8(body: bytes) -> bool:
    """Return whether a page is UTF-8 to its end, or to where it was cut."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        # A page cut inside a character is still UTF-8.
        return (
            error.start > 0 and len(body) - error.start < 4 and error.reason.endswith("end of data")
        )
    return True


def _pieces(body: bytes, first: int) -> list[bytes]:
    """Return the texts and values with bytes beyond ASCII, each once, up to a bound."""
    found: dict[bytes, None] = {}
    size = 0
    start = max(0, first - HEAD_BYTES)
    for match in _PIECE.finditer(body, start):
        piece = match[0].strip()[:SAMPLE_BYTES]
        if piece not in found:
            found[piece] = None
            size += len(piece)
        if size >= SAMPLE_BYTES or len(found) >= MOST_PIECES:
            break
    return list(found)


def _east_asian(pieces: Iterable[bytes], country: str) -> str:
    """Return the East Asian encoding in which a text is made of common characters, or ""."""
    sample = b"\n".join(pieces)
    best, best_weight = "", _SURE_BESIDE_RUSSIAN if _russian(sample) else SURE
    for codec, countries in _COUNTRIES.items():
        weight = _weight(sample, codec)
        if weight is None:
            continue
        weight += _HOME if country in countries else 0.0
        if weight > best_weight:
            best, best_weight = codec, weight
    return best


def _weight(sample: bytes, codec: str) -> float | None:
    """Return the mean weight of the characters beyond ASCII; None: too few, or hardly valid."""
    text = decoded(sample, codec)
    characters = [one for one in text if one > "\x7f"]
    if len(characters) < FEWEST or 20 * characters.count("\ufffd") > len(characters) + 20:
        return None
    common, ordinary = COMMON[codec], _ORDINARY[codec]
    is_japanese = codec in ("cp932", "euc_jp")
    total = 0.0
    for one in characters:
        if one in common:
            total += _COMMON_WEIGHT
        elif is_japanese and _KANA.match(one):
            total += _KANA_WEIGHT
        elif one == "\ufffd":
            total += _BROKEN_WEIGHT
        elif ordinary.match(one) or one in _level_one(codec):
            total += _ORDINARY_WEIGHT
        else:
            total += _RARE_WEIGHT
    return total / len(characters)


@cache
def _level_one(codec: str) -> frozenset[str]:
    first, last = _LEVEL_ONE[codec]
    found = set()
    for lead in range(first[0], last[0] + 1):
        for trail in range(0x40, 0xFF):
            pair = bytes((lead, trail))
            if first <= pair <= last:
                found.add(decoded(pair, codec)[:1])
    return frozenset(found)


def _as_firefox(pieces: Iterable[bytes], country: str) -> str:
    sample = b"\n".join(pieces)
    detector = _detector()
    detector.feed(sample, last=True)
    label: str = detector.guess(tld=country.encode("ascii") or None, allow_utf8=False)
    codec = codec_of(_ALIASES.get(label, label)) or FALLBACK
    if codec in _RUSSIAN or codec in COMMON:
        codec = _russian(sample) or codec
    return "mac-cyrillic" if codec == FALLBACK and _is_mac_cyrillic(sample) else codec


def _russian(sample: bytes) -> str:
    """Return the one encoding in which short bytes are Russian words; "": none, or several.

    A word is of small letters, perhaps but for the first, or of capitals, and has vowels. In KOI8-R
    and windows-1251 the bytes of small letters and capitals are exchanged, so one of them decides.
    """
    if len(sample) > _SHORT_BYTES:
        return ""
    found = [codec for codec in _RUSSIAN if _has_russian_words(decoded(sample, codec))]
    return found[0] if len(found) == 1 else ""


def _has_russian_words(text: str) -> bool:
    beyond = [one for one in text if one > "\x7f"]
    words = _RUSSIAN_WORD.findall(text)
    letters = sum(map(len, words))
    vowels = sum(one in _VOWELS for word in words for one in word.lower())
    return letters == len(beyond) and letters * 0.2 <= vowels <= letters * 0.7


def _is_mac_cyrillic(sample: bytes) -> bool:
    """Return whether bytes are words of Cyrillic as old Macintoshes wrote it.

    Firefox does not know it; what it takes for Western text has accents one by one, no words.
    """
    letters = sum(len(word) for word in _MAC_WORD.findall(sample))
    return 5 * letters > 4 * len(_OUTSIDE_ASCII.findall(sample))


def _detector() -> Any:
    from chardetng_py import EncodingDetector  # noqa: PLC0415  # few pages need it

    return EncodingDetector()
