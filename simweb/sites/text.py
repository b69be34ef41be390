"""Filler text: paragraphs of made-up words in the charset of a host.

The words mean nothing and come from syllables, so they compress like prose and have no owner.
"""

from __future__ import annotations

from functools import lru_cache

from simweb.sites.chance import Stream, draw64

__all__ = ["FLOOR", "paragraphs", "python_charset", "titles"]

FLOOR = 400  # bytes of the longest paragraph; a page is padded to its exact size

_SYLLABLE_TEXT = (
    "ka ke ki ko ku sa se shi so su ta te chi to tsu na ne ni no nu ha he hi ho fu ma me mi mo mu "
    "ra re ri ro ru ya yo yu wa an en in on un al er ist tion ment ing ous ic"
)
_SYLLABLES = _SYLLABLE_TEXT.split()
_KANA = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわん"
_KANJI = "大学研究東京情報通信網計算機科図書館新聞年月日時間人国際会議論文教育自然言語処理"
_ACCENTED = ("café", "naïve", "señal", "über", "façade", "smörgås", "élan", "garçon")
_JAPANESE = ("shift_jis", "euc-jp")
_COUNT = 128


def python_charset(charset: str) -> str:
    """Return the codec of a host's charset; `utf-8-unlabelled` is UTF-8 without a declaration."""
    return charset.removesuffix("-unlabelled")


@lru_cache(maxsize=16)
def paragraphs(charset: str) -> tuple[bytes, ...]:
    """Return the paragraphs of a charset as encoded HTML, each at most FLOOR bytes."""
    stream = Stream(draw64("text", charset))
    make = _japanese if charset in _JAPANESE else _western
    codec = python_charset(charset)
    return tuple(f"<p>{make(stream, charset)}</p>\n".encode(codec) for _ in range(_COUNT))


@lru_cache(maxsize=16)
def titles(charset: str) -> tuple[str, ...]:
    """Return short titles that the charset can write."""
    stream = Stream(draw64("titles", charset))
    return tuple(_title(stream, charset) for _ in range(_COUNT))


def _title(stream: Stream, charset: str) -> str:
    if charset in _JAPANESE:
        return "".join(_KANJI[stream.below(len(_KANJI))] for _ in range(8))
    return " ".join(_word(stream, charset) for _ in range(4)).capitalize()


def _western(stream: Stream, charset: str) -> str:
    words = [_word(stream, charset) for _ in range(30 + stream.below(30))]
    return " ".join(words).capitalize() + "."


def _word(stream: Stream, charset: str) -> str:
    if stream.below(25) == 0:
        return _ACCENTED[stream.below(len(_ACCENTED))]
    count = 1 + stream.below(3)
    return "".join(_SYLLABLES[stream.below(len(_SYLLABLES))] for _ in range(count))


def _japanese(stream: Stream, charset: str) -> str:
    letters = _KANA + _KANJI
    text = "".join(letters[stream.below(len(letters))] for _ in range(90 + stream.below(90)))
    return text + "。"
