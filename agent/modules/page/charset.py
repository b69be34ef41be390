"""Decides which encoding a page's text has.

In this order: byte order mark, Content-Type, `<meta>` in the first 1,024 bytes, and where nobody
says it, what the bytes look like. A guess costs at most one look at a sample of fixed size.
Source: HTML standard, 13.2.3.2 (determining the character encoding). Unlike there a `<meta>`
counts with any `http-equiv`, as many pages misspell it, and only before `<body>`.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final

from agent.modules.page.fields import header_charset
from agent.modules.page.labels import codec_of
from agent.modules.page.tags import start_tags

__all__ = ["charset_of", "declared_charset"]

PRESCAN_BYTES: Final = 1024
SAMPLE_BYTES: Final = 4096
FALLBACK: Final = "cp1252"
LONG_TYPE: Final = 100  # characters of a Content-Type, from which it is not remembered

_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
)
_IN_CONTENT: Final = re.compile(
    r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE
)
_IN_XML: Final = re.compile(r"<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"'>]*)[\"']")
# How most pages begin; what it finds is what the search for tags finds.
_USUAL: Final = re.compile(
    rb"[^<]*(?:<![a-z][^>]*>[^<]*)?<html(?:\s+[a-z:_-]+=\"[^\"]*\")*\s*>[^<]*<head>[^<]*"
    rb"(?:<title>[^<]*</title>[^<]*)?"
    rb"(?:<meta\s+name=\"[\w.:-]+\"\s+content=\"(?![^\"]*charset)[^\"<>]*\"\s*/?>[^<]*){0,4}"
    rb"<meta\s+(?:charset=(?:\"([\w-]{1,40})\"|([\w-]{1,40})(?=[\s>]))"
    rb"|http-equiv=(?:\"content-type\"|content-type)\s+content=\"text/html;\s*charset=([\w-]{1,40})\")\s*/?>",
    re.IGNORECASE,
)
_OUTSIDE_ASCII: Final = re.compile(rb"[\x80-\xff]")
_NOT_ASCII: Final = re.compile("[^\x00-\x7f]")
_KANA: Final = re.compile("[\u3041-\u309f\u30a1-\u30ff]")
_JIS_SHIFT: Final = re.compile(rb"\x1b\$[@B]")
_TEXT: Final = re.compile(rb"(?:^|>)[^<>]*[\x80-\xff][^<>]*")


def charset_of(body: bytes, content_type: str) -> str:
    """Return the codec of a page: one that decodes it, with `errors="replace"`, without fail."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return codec
    codec_said = _said(content_type) if len(content_type) < LONG_TYPE else _read(content_type)
    return codec_said or declared_charset(body) or _guess(body)


def _read(content_type: str) -> str | None:
    label = header_charset(content_type)
    return codec_of(label) if label else None


_said: Final = lru_cache(maxsize=64)(_read)  # a server says the same of all its pages


def declared_charset(body: bytes) -> str | None:
    """Return the codec that a page names itself, in XML's declaration or a `<meta>`, or None."""
    usual = _USUAL.match(body, 0, PRESCAN_BYTES)
    if usual is not None:
        codec = _named(usual[1] or usual[2] or usual[3])
        if codec is not None:
            return codec
    return _searched(body[:PRESCAN_BYTES].decode("latin-1"))


@lru_cache(maxsize=64)
def _named(label: bytes) -> str | None:
    codec = codec_of(label.decode("ascii"))
    return None if codec is None else _read_bytewise(codec)


def _searched(head: str) -> str | None:
    declaration = _IN_XML.match(head)
    if declaration is not None and (codec := codec_of(declaration[1])) is not None:
        return _read_bytewise(codec)
    for name, attributes in start_tags(head):
        if name == "body":
            return None
        if name != "meta":
            continue
        label = attributes.get("charset")
        if label is None:
            match = _IN_CONTENT.search(attributes.get("content", ""))
            label = match[1] or match[2] or match[3] if match else None
        codec = codec_of(label) if label else None
        if codec is not None:
            return _read_bytewise(codec)
    return None


def _read_bytewise(codec: str) -> str:
    # Who could read the name byte by byte was not reading UTF-16.
    return "utf-8" if codec.startswith("utf-16") else codec


def _guess(body: bytes) -> str:
    first = _OUTSIDE_ASCII.search(body)
    if first is None:
        return "iso2022_jp" if _JIS_SHIFT.search(body) else "utf-8"
    if _is_utf8(body):
        return "utf-8"
    sample = _sample(body)
    for japanese in ("euc_jp", "cp932"):
        if _has_kana(sample, japanese):
            return japanese
    from charset_normalizer import from_bytes  # noqa: PLC0415  # a tenth of a worker's start

    guesses = from_bytes(sample).best()
    codec = codec_of(guesses.encoding) if guesses else None
    return codec or FALLBACK


def _has_kana(sample: bytes, codec: str) -> bool:
    """Tell whether a sample is Japanese: a fifth of what is not ASCII is kana.

    General detectors take short texts in EUC-JP for something else; no other language's text
    turns into kana when read so.
    """
    try:
        text = codecs.getincrementaldecoder(codec)().decode(sample)  # may end inside a character
    except UnicodeDecodeError:
        return False
    return 5 * len(_KANA.findall(text)) > len(_NOT_ASCII.findall(text))


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        # A page cut inside a character is still UTF-8.
        return (
            error.start > 0 and len(body) - error.start < 4 and error.reason.endswith("end of data")
        )
    return True


def _sample(body: bytes) -> bytes:
    """Return text that tells encodings apart: what lies outside ASCII, and its surroundings."""
    pieces: list[bytes] = []
    size = 0
    for match in _TEXT.finditer(body):
        pieces.append(match[0])
        size += len(match[0])
        if size >= SAMPLE_BYTES:
            break
    return b"\n".join(pieces)[:SAMPLE_BYTES]
