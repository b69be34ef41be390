"""Decides which encoding a page's text has.

In this order: byte order mark, Content-Type, `<meta>` before `<body>`, and where none names it,
the look of the bytes (`charset_guess`); before that, for bytes that are no UTF-8, a `<meta>`
anywhere. As in Chromium a `<meta>` counts in the first 1,024 bytes, and behind them as long as the
head of the page continues. An XML declaration counts behind them, and before them in what is sent
as XML.
Source: HTML standard, 13.2.3.2 (determining the character encoding) and 13.2.3.4 (changing it).
Unlike there a `<meta>` counts with any `http-equiv`, as many pages misspell it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from agent.modules.page.encodings.charset_guess import (
    guessed_charset,
    is_utf8,
    top_level_domain,
    unmarked_charset,
)
from agent.modules.page.encodings.encoding_labels import codec_of
from agent.modules.page.header_fields import header_charset
from agent.modules.page.html.tags import start_tags

__all__ = ["charset_of", "declared_charset"]

PRESCAN_BYTES: Final = 1024
MOST_OF_HEAD: Final = 1 << 18
"""Bytes in which a `<meta>` is looked for at most: heads of pages hold scripts and styles."""

LONG_TYPE: Final = 100  # characters of a Content-Type, from which it is not remembered

_OF_A_HEAD: Final = frozenset(
    ("html", "head", "base", "link", "meta", "noscript", "object", "script", "style", "title")
)
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


def charset_of(body: bytes, content_type: str, url: str = "") -> str:
    """Return the codec of a page, as `encodings` names it. url: its host helps a guess."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return codec
    codec_said = _said(content_type) if len(content_type) < LONG_TYPE else _read(content_type)
    if codec_said is None and body.startswith(b"<?xml") and _is_xml(content_type):
        codec_said = _in_xml(body[:PRESCAN_BYTES].decode("latin-1"))  # before any `<meta>`
    return codec_said or declared_charset(body) or _undeclared(body, url)


def _is_xml(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower().endswith(("/xml", "+xml"))


def _undeclared(body: bytes, url: str) -> str:
    if not body.isascii() and not is_utf8(body):
        late = _searched(body[:MOST_OF_HEAD].decode("latin-1"), anywhere=True)
        if late is not None:
            return late
        return guessed_charset(body, top_level_domain(url) if url else "")
    return unmarked_charset(body)


def _read(content_type: str) -> str | None:
    label = header_charset(content_type)
    return codec_of(label) if label else None


_said: Final = lru_cache(maxsize=64)(_read)  # a server says the same of all its pages


def declared_charset(body: bytes) -> str | None:
    """Return the codec that a page names itself, in a `<meta>` or XML's declaration, or None."""
    usual = _USUAL.match(body, 0, PRESCAN_BYTES)
    if usual is not None:
        codec = _named(usual[1] or usual[2] or usual[3])
        if codec is not None:
            return codec
    found = _searched(body[:PRESCAN_BYTES].decode("latin-1"))
    if found is None and len(body) > PRESCAN_BYTES:
        return _searched(body[:MOST_OF_HEAD].decode("latin-1"), _OF_A_HEAD)
    return found


@lru_cache(maxsize=64)
def _named(label: bytes) -> str | None:
    codec = codec_of(label.decode("ascii"))
    return None if codec is None else _read_bytewise(codec)


def _searched(
    head: str, only: frozenset[str] | None = None, *, anywhere: bool = False
) -> str | None:
    """Return the codec that a `<meta>` or, where none does, an XML declaration names.

    only: the search ends at an element of another name. anywhere: also behind `<body>`.
    """
    for name, attributes in start_tags(head):
        if (name == "body" and not anywhere) or (only is not None and name not in only):
            break
        if name != "meta":
            continue
        label = attributes.get("charset")
        if label is None:
            match = _IN_CONTENT.search(attributes.get("content", ""))
            label = match[1] or match[2] or match[3] if match else None
        codec = codec_of(label) if label else None
        if codec is not None:
            return _read_bytewise(codec)
    return _in_xml(head)


def _in_xml(head: str) -> str | None:
    """Return the codec that an XML declaration names: in HTML, where no `<meta>` does."""
    declaration = _IN_XML.match(head)
    codec = None if declaration is None else codec_of(declaration[1])
    return None if codec is None else _read_bytewise(codec)


def _read_bytewise(codec: str) -> str:
    # Who could read the name byte by byte was not reading UTF-16.
    if codec.startswith("utf-16"):
        return "utf-8"
    return "cp1252" if codec == "x-user-defined" else codec
