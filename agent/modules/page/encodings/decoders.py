"""Bytes to text, as the decoders of the Encoding Standard with replacement.

The usual page has no malformed sequence: Python's codec reads it at the speed of C, and a few
characters that it has otherwise are exchanged. Any other page is read by the rules, sequence by
sequence, at some ten megabytes a second. Both lead to the same text; a test holds them together.
Source: WHATWG Encoding, 10 to 13 (decoders).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from agent.modules.page.encodings.iso2022jp import decoded_iso2022jp
from agent.modules.page.encodings.pairs import GB18030_CHANGES, character, jis_supplement
from agent.modules.page.encodings.single_byte import SINGLE_BYTE, table
from shared.frozen import frozen

__all__ = ["decoded", "is_unicode"]

_UNICODE: Final = frozenset(("utf-8", "utf-16-le", "utf-16-be"))
_ASCII_END: Final = 0x80
_PAIR: Final = 2
_FOUR: Final = 4
_BAD: Final = "\ufffd"


@frozen
class _Rules:
    """Rules for reading one East Asian encoding.

    exchanged: what Python's codec answers for a character that the standard has otherwise, and that
    it answers for nothing else. doubtful, doubtful_text: bytes and characters with which only the
    sequences decide. sequence: a pattern of all that is not ASCII, each malformed sequence too.
    """

    python: str
    exchanged: tuple[tuple[str, str], ...]
    doubtful: bytes
    doubtful_text: re.Pattern[str] | None
    sequence: re.Pattern[str]


_RULES: Final[Mapping[str, _Rules]] = {
    "cp932": _Rules(
        "cp932",
        (),
        b"",
        re.compile("[\xa0\uf8f0-\uf8f3]"),
        re.compile("[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xff]?|[\x81-\xff]"),
    ),
    "euc_jp": _Rules(
        "euc_jp",
        tuple(
            zip(
                "\u301c\u2016\u2212\xa2\xa3\xac",
                "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2",
                strict=True,
            )
        ),
        b"\x8f\xa2\xb7",
        None,
        re.compile("\x8f[\xa1-\xfe][\x80-\xff]?|[\x8e\x8f\xa1-\xfe][\x80-\xff]?|[\x80-\xff]"),
    ),
    "gb18030": _Rules(
        "gb18030",
        tuple((pair.decode("gb18030"), sign) for pair, sign in GB18030_CHANGES.items()),
        b"\x81\x35\xf4\x37",
        None,
        re.compile(
            "[\x81-\xfe][0-9][\x81-\xfe][0-9]|[\x81-\xfe][0-9](?:[\x81-\xfe])?\\Z"
            "|[\x81-\xfe][\x40-\x7e\x80-\xff]?|[\x80\xff]"
        ),
    ),
    "big5hkscs": _Rules(
        "big5hkscs",
        (),
        b"",
        re.compile("[\u2022\uff64\u203e\u223c\u2641\u2609\uff0f\uff3c\xa5\xa2\xa3]"),
        re.compile("[\x81-\xfe][\x40-\x7e\x80-\xff]?|[\x80\xff]"),
    ),
    "cp949": _Rules(
        "cp949",
        (),
        b"",
        None,
        re.compile("[\x81-\xfe][\x41-\x7f\x80-\xff]?|[\x80\xff]"),
    ),
}


def is_unicode(codec: str) -> bool:
    """Return whether an encoding has every character."""
    return codec in _UNICODE


def decoded(body: bytes, codec: str) -> str:
    """Return the text of a body, U+FFFD for what is malformed. codec: as `codec_of` names it."""
    if codec in _UNICODE:
        return body.decode(codec, "replace")
    if codec in SINGLE_BYTE:
        return codecs.charmap_decode(body, "replace", table(codec))[0]
    if codec == "iso2022_jp":
        return decoded_iso2022jp(body)
    if codec == "replacement":
        return _BAD if body else ""
    return _east_asian(body, "gb18030" if codec == "gbk" else codec)


def _east_asian(body: bytes, codec: str) -> str:
    rules = _RULES[codec]
    if not rules.doubtful or rules.doubtful not in body:
        try:
            text = body.decode(rules.python)
        except UnicodeDecodeError:
            return _by_rules(body, codec)
        for theirs, ours in rules.exchanged:
            if theirs in text:
                text = text.replace(theirs, ours)
        if rules.doubtful_text is None or rules.doubtful_text.search(text) is None:
            return text
    return _by_rules(body, codec)


def _by_rules(body: bytes, codec: str) -> str:
    known = _sequences(codec)

    def text_of(match: re.Match[str]) -> str:
        return known[match[0]]

    return _RULES[codec].sequence.sub(text_of, body.decode("latin-1"))


class _Sequences(dict[str, str]):
    """The text of each sequence that was met: `"\\x8e\\x91": "資"`."""

    def __init__(self, codec: str) -> None:
        super().__init__()
        self._read = _READERS.get(codec)
        self._codec = codec

    def __missing__(self, sequence: str) -> str:
        octets = sequence.encode("latin-1")
        text = None if self._read is None else self._read(octets)
        if text is None:
            text = _pair(self._codec, octets)
        if len(octets) <= _PAIR:  # of longer ones there are a million
            self[sequence] = text
        return text


@cache
def _sequences(codec: str) -> _Sequences:
    return _Sequences(codec)


def _pair(codec: str, octets: bytes) -> str:
    """Return the text of two bytes; of a malformed pair a second byte in ASCII is read again."""
    if len(octets) != _PAIR:
        return _BAD
    found = character(codec, octets[0], octets[1])
    if found:
        return found
    return _BAD + chr(octets[1]) if octets[1] < _ASCII_END else _BAD


def _of_shift_jis(octets: bytes) -> str | None:
    first = octets[0]
    if len(octets) > 1:
        return None
    return chr(0xFF61 + first - 0xA1) if 0xA1 <= first <= 0xDF else _BAD


def _of_euc_jp(octets: bytes) -> str | None:
    if octets[0] == 0x8E and len(octets) == _PAIR and 0xA1 <= octets[1] <= 0xDF:
        return chr(0xFF61 + octets[1] - 0xA1)
    if octets[0] == 0x8F and len(octets) > _PAIR:
        return jis_supplement(octets[1] - 0xA1, octets[2] - 0xA1) or _BAD
    return None


def _of_gb18030(octets: bytes) -> str | None:
    if octets == b"\x80":
        return "€"
    if len(octets) == _FOUR:
        if octets == b"\x81\x35\xf4\x37":
            return "\ue7c7"
        try:
            return octets.decode("gb18030")
        except UnicodeDecodeError:
            return _BAD
    return _BAD if octets[1:2].isdigit() else None  # the end of the body is missing


_READERS: Final[dict[str, Callable[[bytes], str | None]]] = {
    "cp932": _of_shift_jis,
    "euc_jp": _of_euc_jp,
    "gb18030": _of_gb18030,
}
