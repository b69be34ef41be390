"""HTML to the few elements that carry links, in document order.

The parser is a browser's (lexbor), so comments, scripts and broken nesting mean what they mean
to a reader. Text that is known to stop it (elements nested ten thousand deep, thousands of
attributes in one tag: its time grows with the square) goes to the plain search for tags, and so
does text that it fails on. The limits of the worker process are what guards against the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from selectolax.lexbor import (
    LexborCSSSelector,
    LexborDocumentOptions,
    LexborHTMLParser,
    SelectolaxError,
    create_tag,
)

from agent.modules.page.encodings import decoded
from agent.modules.page.html.complex_elements import shown_templates
from agent.modules.page.html.tags import start_tags

__all__ = ["BEYOND_ASCII", "Element", "elements", "is_hard"]

Element = tuple[str, Mapping[str, str | None]]

# Elements for `links.py`. The parser reads it again for each page, and compares every element
# with every part: by an attribute that the page has, or by a tag, that is quick; by an attribute
# that it has not, the name is looked up again for each element, at the price of three tags. So what
# most pages lack is asked for by its tag. An element that two parts fit is given twice.
_SELECTOR: Final = (
    "[background],[href],[src],meta,form,object,img[srcset],source[srcset],video[poster],"
    "link[imagesrcset]"
)
_WANTED: Final = frozenset(
    (
        *("a", "area", "audio", "base", "body", "embed", "form", "frame", "iframe", "img"),
        *("input", "link", "meta", "object", "script", "source", "table", "td", "th", "track"),
        "video",
    )
)
# By the parser's numbers, which it returns faster than names.
_WANTED_IDS: Final = {create_tag(name).tag_id: name for name in _WANTED}

WITHOUT_EVENTS: Final = LexborDocumentOptions.WO_EVENTS.value
"""Nothing is copied into `<selectedcontent>`: the option itself stands on the page too."""

MAX_DEPTH: Final = 5_000
SHORTEST_TAG: Final = 3  # bytes: without its `>` a tag takes the next one for a part of itself
MAX_TAG_PARTS: Final = 2_000
LONG_TAG: Final = 8_000  # characters: MAX_TAG_PARTS attributes do not go into fewer
PIECE: Final = 32 * 1024  # bytes
SLACK: Final = 512  # bytes that are counted at once with those that must be

_TAG: Final = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_LONG_TAG: Final = re.compile(rf"<[^<>]{{{LONG_TAG}}}[^<>]*")
_LONG_IN_BYTES: Final = re.compile(_LONG_TAG.pattern.encode())
# Elements without an end tag, or whose end tag is often left out.
_WITHOUT_END: Final = frozenset(
    (
        *(b"area", b"base", b"br", b"col", b"dd", b"dt", b"embed", b"hr", b"img", b"input", b"li"),
        *(b"link", b"meta", b"option", b"p", b"param", b"source", b"td", b"th", b"tr", b"track"),
        b"wbr",
    )
)

BEYOND_ASCII: Final = frozenset(("iso2022_jp", "utf-16-le", "utf-16-be", "replacement"))
"""Encodings of the web in which bytes of ASCII may be other characters, or none."""

# What `links.py` reads of no element, and of no `<meta>`.
_UNREAD: Final = frozenset(("alt", "class", "id", "onclick", "style", "summary", "title", "value"))
_UNREAD_METAS: Final = frozenset(("author", "copyright", "description", "keywords"))

# One for all pages: to make it takes as long as to parse a small page.
_selection: Final = LexborCSSSelector()  # type: ignore[no-untyped-call]  # its stub lacks a type


def elements(body: bytes, codec: str) -> tuple[Iterable[Element], str]:
    """Return (tag, attributes) of each element that may carry links, and a note.

    codec: of the body, as `charset_of` returns it. The note is empty, or says why the plain search
    was used. Values without a reader (`_UNREAD`) may be wrong in a page that is not in UTF-8.
    """
    if codec == "utf-8" or (codec not in BEYOND_ASCII and body.isascii()):
        return _parsed(body, body, codec)
    if codec not in BEYOND_ASCII and b"[CDATA[" not in body:
        found, note = _parsed(body, body, codec)
        if not note and all(_is_ascii(attributes) for _, attributes in found):
            return found, ""
    return _parsed(decoded(body, codec).encode(), body, codec)


def _parsed(markup: bytes, body: bytes, codec: str) -> tuple[Iterable[Element], str]:
    """Return what `elements` does. markup: the body as the parser takes it."""
    if (b"emplate" in markup or b"EMPLATE" in markup) and b"shadowrootmode" in markup.lower():
        markup = _with_shadow_trees(markup)
    if is_hard(markup):
        return _searched(body, codec), "parse-simple: nested or attributed beyond reason"
    try:
        root = LexborHTMLParser(markup, options=WITHOUT_EVENTS).root
        if root is None:
            return [], ""
        found = _selection.find(_SELECTOR, root)
        name_of = _WANTED_IDS.get
        return [
            (name, node.attributes) for node in found if (name := name_of(node.tag_id)) is not None
        ], ""
    except (SelectolaxError, UnicodeError, ValueError) as error:
        return _searched(body, codec), f"parse-error: {type(error).__name__}"


def _with_shadow_trees(markup: bytes) -> bytes:
    """Return a page whose written-out shadow trees are parts of it; the parser knows none."""
    shown = shown_templates(markup.decode("latin-1"))
    begins = [0, *(begin + len(b"<template") for begin in shown)]
    ends = [*shown, len(markup)]
    return b"<div".join(markup[begin:end] for begin, end in zip(begins, ends, strict=True))


def _is_ascii(attributes: Mapping[str, str | None]) -> bool:
    """Return whether the values that have a reader are in ASCII."""
    for name, value in attributes.items():
        if value and not value.isascii() and name not in _UNREAD:
            if name == "content" and (attributes.get("name") or "").lower() in _UNREAD_METAS:
                continue
            return False
    return True


def is_hard(markup: bytes) -> bool:
    """Return whether a page in UTF-8 would keep the parser busy for seconds."""
    if _may_have_long_tag(markup) and any(
        len(match[0].split()) > MAX_TAG_PARTS
        for match in _LONG_TAG.finditer(markup.decode("utf-8", "replace"))
    ):
        return True
    if not _may_be_deep(markup):
        return False
    depth = 0
    for match in _TAG.finditer(markup):
        if match[2].lower() in _WITHOUT_END:
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False


def _may_have_long_tag(markup: bytes) -> bool:
    """Return whether one tag has so many bytes: first by one look in each stretch."""
    stretch = LONG_TAG // 2  # so a long tag holds one of them whole
    for start in range(0, len(markup) - stretch, stretch):
        if markup.find(b">", start, start + stretch) < 0:
            return _LONG_IN_BYTES.search(markup) is not None
    return False


def _may_be_deep(markup: bytes) -> bool:
    """Return whether unclosed tags are so many that depth must be counted exactly.

    Every `<` that is not `</` counts as if it opened an element. The text before a piece can
    not matter more than its depth, nor its content more than the elements that it opens.
    """
    tags = at = 0  # tags before a byte, and that byte
    while tags <= MAX_DEPTH:
        more = len(markup) - at - SHORTEST_TAG * (MAX_DEPTH - tags)
        if more <= 0:
            return False  # the rest has no room for as many tags as are missing
        tags += markup.count(b"<", at, at + more + SLACK)
        at += more + SLACK
    left = tags + markup.count(b"<", at)
    depth = 0
    for start in range(0, len(markup), PIECE):
        if depth + left <= MAX_DEPTH:
            return False
        tags = markup.count(b"<", start, start + PIECE)
        ends = markup.count(b"</", start, start + PIECE + 1)
        opened = tags - ends
        if depth + opened > MAX_DEPTH:
            return True
        depth = max(opened, depth + opened - ends)
        left -= tags
    return False


def _searched(body: bytes, codec: str) -> Iterable[Element]:
    text = decoded(body, codec)
    return ((name, attributes) for name, attributes in start_tags(text) if name in _WANTED)
