"""The character of a two-byte sequence, in each East Asian encoding, and all such characters.

    character("cp932", 0x8E, 0x91) == "資"

A pointer is the number that the standard gives a sequence. Python's codecs know nearly all of them:
cp932 has the whole of JIS X 0208 as browsers have it, so EUC-JP and ISO-2022-JP are read by it too.
Source: WHATWG Encoding, 5 (indexes). `_BIG5` is the part of its index-big5.txt that Python lacks or
has otherwise: copyright WHATWG, Creative Commons Attribution 4.0; the rest needs no data.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

__all__ = [
    "GB18030_CHANGES",
    "JIS_ROW",
    "all_pairs",
    "character",
    "jis_character",
    "jis_supplement",
]

JIS_ROW: Final = 94
"""Characters of a row of JIS X 0208 and JIS X 0212."""

_SJIS_ROW, _BIG5_ROW, _GB_ROW, _KR_ROW = 188, 157, 190, 190
_UPPER: Final = range(0xA1, 0xFF)
_SHARED_LAST: Final = 8836  # pointer of JIS X 0208 behind which only Shift_JIS reaches

GB18030_CHANGES: Final = {
    b"\xa3\xa0": "\u3000",
    b"\xa8\xbc": "\u1e3f",
    **{bytes((0xA6, 0xD9 + place)): sign for place, sign in enumerate("︐︒︑︓︔︕︖")},
    b"\xa6\xec": "︗",
    b"\xa6\xed": "︘",
    b"\xa6\xf3": "︙",
    **{
        bytes((0xFE, trail)): chr(0x9FB4 + place)
        for place, trail in enumerate((0x59, 0x61, 0x66, 0x67, 0x6D, 0x7E, 0x90, 0xA0))
    },
}
"""Pairs that the edition of 2022 has otherwise than the one that Python knows, which reads the same
bytes as characters for private use, but for the first."""

_BIG5: Final = {
    1000: "㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳",
    1040: "䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋",
    2082: "箸",
    2088: "簆",
    2103: "糎",
    2114: "緒",
    2123: "縝",
    2148: "者",
    2151: "耨",
    2221: "菁",
    2239: "蒨",
    2244: "萏",
    2303: "覦覩",
    2354: "起",
    2400: "都",
    2413: "銹",
    2477: "靜",
    2498: "響",
    2605: "鼖",
    2673: "蔃",
    2746: "兙兛兝兞",
    2771: "鍮",
    2780: "瑹",
    2990: "浧",
    3087: "禛",
    3259: "邗",
    3301: "靝",
    3436: "瀞",
    3451: "嬨",
    4136: "爁",
    4138: "矗",
    4141: "纇",
    4182: "駖",
    4206: "釔",
    4220: "惞",
    4230: "澶",
    4241: "輶",
    4258: "侻",
    4273: "營",
    4279: "鄄",
    4282: "鷰",
    4294: "菏",
    4329: "尐秣",
    4349: "婧",
    4419: "輋",
    4422: "筑",
    4494: "拐",
    4624: "恢",
    4694: "痹",
    4708: "汊",
    4742: "鬮",
    4748: "鼗",
    4815: "僭",
    4828: "弌",
    4902: "蠏",
    4922: "拎",
    4982: "瑨",
    4992: "煢",
    4997: "牐",
    5029: "‧",
    5038: "﹑",
    5120: "¯",
    5153: "～",
    5168: "⊕⊙",
    5182: "∕﹨",
    5185: "￥",
    5187: "￠￡",
    5432: "␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€",
    10942: "廴",
    10946: "无",
    10948: "癶",
    10950: "隶",
    10957: "〃仝",
    19028: "倩",
    19035: "偽",
    19088: "包",
    19096: "卄",
    19112: "卿",
    19162: "嘅",
    19240: "婷",
    19299: "幵",
    19305: "廐",
    19326: "彘",
    19355: "悤",
    19398: "撐",
    19439: "晴",
    19454: "杞",
    19553: "沜渝",
    19557: "港",
    19611: "煮",
    19643: "猪",
    19672: "瑜",
    19697: "瓩",
    19748: "砉",
}
"""By the pointer of the first; the others follow it."""


def character(codec: str, lead: int, trail: int) -> str:
    """Return the character of a sequence, "" where the encoding has none.

    codec: cp932, euc_jp (its JIS X 0208), gb18030, big5hkscs or cp949.
    """
    if codec == "euc_jp":
        return jis_character(lead - 0xA1, trail - 0xA1)
    pair = bytes((lead, trail))
    if codec == "gb18030":
        return GB18030_CHANGES.get(pair) or _by_python(pair, codec)
    if codec == "big5hkscs":
        return _big5().get(pair) or _by_python(pair, codec)
    return _by_python(pair, codec)


def jis_character(row: int, cell: int) -> str:
    """Return the character of JIS X 0208 in a row and a cell, both from 0; "": none."""
    if not (0 <= row < JIS_ROW and 0 <= cell < JIS_ROW):
        return ""
    lead, trail = divmod(row * JIS_ROW + cell, _SJIS_ROW)
    lead += 0x81 if lead < 0x1F else 0xC1
    return _by_python(bytes((lead, trail + (0x40 if trail < 0x3F else 0x41))), "cp932")


def jis_supplement(row: int, cell: int) -> str:
    """Return the character of JIS X 0212 in a row and a cell, both from 0; "": none."""
    if not (0 <= row < JIS_ROW and 0 <= cell < JIS_ROW):
        return ""
    octets = bytes((0x8F, row + 0xA1, cell + 0xA1))
    return "～" if octets == b"\x8f\xa2\xb7" else _by_python(octets, "euc_jp")


def all_pairs(codec: str) -> Iterator[tuple[int, bytes, str]]:
    """Yield (pointer, sequence, character) of an encoding, in the order of the pointers."""
    if codec == "euc_jp":
        for pointer in range(_SHARED_LAST):
            row, cell = divmod(pointer, JIS_ROW)
            if found := jis_character(row, cell):
                yield pointer, bytes((row + 0xA1, cell + 0xA1)), found
        return
    for pointer, lead, trail in _pointers(codec):
        if found := character(codec, lead, trail):
            yield pointer, bytes((lead, trail)), found


def _pointers(codec: str) -> Iterator[tuple[int, int, int]]:
    if codec == "cp932":
        leads, trails, row = (*range(0x81, 0xA0), *range(0xE0, 0xFD)), _but(0x40, 0xFD), _SJIS_ROW
    elif codec == "big5hkscs":
        leads, trails, row = tuple(range(0x81, 0xFF)), (*range(0x40, 0x7F), *_UPPER), _BIG5_ROW
    elif codec == "gb18030":
        leads, trails, row = tuple(range(0x81, 0xFF)), _but(0x40, 0xFF), _GB_ROW
    else:
        leads, trails, row = tuple(range(0x81, 0xFF)), tuple(range(0x41, 0xFF)), _KR_ROW
    for number, lead in enumerate(leads):
        for place, trail in enumerate(trails):
            yield number * row + place, lead, trail


def _but(first: int, end: int) -> tuple[int, ...]:
    return (*range(first, 0x7F), *range(0x80, end))


def _by_python(octets: bytes, codec: str) -> str:
    try:
        text = octets.decode(codec)
    except UnicodeDecodeError:
        return ""
    # A codec that reads the two bytes as two characters knows no such pair; Big5 has four pairs
    # that are a letter with its accent.
    return text if len(text) == 1 or codec == "big5hkscs" else ""


@cache
def _big5() -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for first, characters in _BIG5.items():
        for pointer, one in enumerate(characters, first):
            lead, trail = divmod(pointer, _BIG5_ROW)
            found[bytes((lead + 0x81, trail + (0x40 if trail < 0x3F else 0x62)))] = one
    return found
