"""Links in HTML markup: by the compiled reader, or by the parser's tree.

    items     "next.html"                       a reference, as it stands in `<a href>` ...
              ("link", {"rel": "next", ...})    an element that `links` must look at
    kinds     one byte for each item: how a reference was found; 0: an element
    complex   ("style", {"text": "..."})        complex elements: `complex_elements.py`

The compiled reader (`shared/native/markup.zig`) is a browser's tokenizer and knows no tree. It says
so where the tree would decide, as in `<select>` or `<template>`; then `elements` is asked, which
reads every page. Invariant: both lead to the same links in the same order, but for pages that put
links where a table has no place for them, which browsers move in front of the table. ComplexElement
elements are read without a tree, so they come from the compiled reader always, where there is one.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, Protocol

from agent.modules.page.encodings import decoded
from agent.modules.page.html.complex_elements import ComplexElement, read_complex_elements
from agent.modules.page.html.elements import BEYOND_ASCII, Element, elements
from shared.frozen import frozen
from shared.native import library

__all__ = ["Item", "Markup", "by_tree", "links_of_markup"]

Item = str | Element

_END, _ELEMENT, _NAME, _VALUE = "\0", "\x01", "\x02", "\x03"
"""What ends an item, begins an element, an attribute and its value: no value holds one."""

_NO_ROOM: Final = -2
_SLACK: Final = 64
"""Bytes beyond those of the page: references are never longer than their source."""

_KEPT_ROOM: Final = 1 << 20
"""Bytes of room that are kept for the next page."""


@frozen
class Markup:
    """The parts of a page that lead on."""

    items: Sequence[Item]
    kinds: bytes
    complex_elements: Sequence[ComplexElement] = ()


class _Found(ctypes.Structure):
    _fields_ = [  # ctypes reads it so
        (name, kind)
        for part in ("out", "kinds", "complex")
        for name, kind in ((part, ctypes.c_void_p), (f"{part}_bytes", ctypes.c_size_t))
    ]


class _Room(threading.local):
    """Buffer of the compiled reader's output; each thread has its own, which it keeps."""

    def __init__(self) -> None:
        self.found = _Found()
        self.buffer = bytearray()
        self.begin = 0

    def take(self, size: int) -> None:
        """Reserve so many bytes."""
        if size > len(self.buffer) or len(self.buffer) > _KEPT_ROOM >= size:
            self.buffer = bytearray(size)
            self.begin = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))


_room: Final = _Room()


class _Function(Protocol):
    def __call__(
        self, page: bytes, page_bytes: int, token: bytes, token_bytes: int, found: Any
    ) -> int: ...


@frozen
class _Written:
    """Output of the compiled reader. text: None where only a tree can tell."""

    text: str | None
    kinds: bytes
    complex_text: str


def links_of_markup(body: bytes, codec: str, agent_token: str) -> tuple[Markup, str]:
    """Return what leads on, in document order, and a note as `elements` has it.

    codec: of the body, as `charset_of` returns it. agent_token: whose `<meta>` counts, beside
    that of all robots.
    """
    read = _function()
    if read is None:
        return by_tree(body, codec)
    token = agent_token.lower().encode()
    if codec == "utf-8" or (codec not in BEYOND_ASCII and body.isascii()):
        written = _read(read, body, token)
    elif codec in BEYOND_ASCII:
        written = _read(read, decoded(body, codec).encode(), token)
    else:
        # In these encodings no mark of HTML is a part of another character.
        written = _read(read, body, token)
        if written is not None and not (
            written.complex_text.isascii() and (written.text is None or written.text.isascii())
        ):
            written = _read(read, decoded(body, codec).encode(), token)
    if written is None:
        return by_tree(body, codec)
    complex_elements = _read_complex(written.complex_text) if written.complex_text else ()
    if written.text is None:
        found, note = elements(body, codec)
        items = [*found]
        return Markup(items, bytes(len(items)), complex_elements), note
    return Markup(_items(written.text), written.kinds, complex_elements), ""


def by_tree(body: bytes, codec: str) -> tuple[Markup, str]:
    """Return the same without the compiled reader."""
    found, note = elements(body, codec)
    items = [*found]
    complex_elements = [*read_complex_elements(decoded(body, codec))]
    return Markup(items, bytes(len(items)), complex_elements), note


def _read(read: _Function, page: bytes, token: bytes) -> _Written | None:
    """Return what the compiled reader writes of a page, or None where there is no room for it."""
    size = len(page) + _SLACK
    room = _room
    room.take(4 * size)
    found, begin = room.found, room.begin
    found.out, found.out_bytes = begin, size
    found.kinds, found.kinds_bytes = begin + size, size
    found.complex, found.complex_bytes = begin + 2 * size, 2 * size
    answer = read(page, len(page), token, len(token), found)
    if answer == _NO_ROOM:
        return None
    written = memoryview(room.buffer)
    complex_text = ""
    if found.complex_bytes:
        complex_text = str(written[2 * size : 2 * size + found.complex_bytes], "utf-8", "replace")
    if answer < 0:
        return _Written(None, b"", complex_text)
    kinds = bytes(written[size : size + found.kinds_bytes])
    return _Written(str(written[: found.out_bytes], "utf-8", "replace"), kinds, complex_text)


def _items(text: str) -> list[Item]:
    items: list[Item] = [*text.split(_END)]
    items.pop()  # what follows the last end
    if _ELEMENT in text:
        for place, item in enumerate(items):
            if item[:1] == _ELEMENT:
                assert isinstance(item, str)
                items[place] = _element(item)
    return items


def _element(text: str) -> Element:
    name, *attributes = text[1:].split(_NAME)
    said: dict[str, str | None] = {}
    for attribute in attributes:
        key, given, value = attribute.partition(_VALUE)
        said[key] = value if given else None
    return name, said


def _read_complex(text: str) -> list[ComplexElement]:
    found: list[ComplexElement] = []
    for item in text.split(_END)[:-1]:
        name, *attributes = item.split(_NAME)
        parts = (attribute.partition(_VALUE) for attribute in attributes)
        found.append((name, {key: value for key, _, value in parts}))
    return found


@cache
def _function() -> _Function | None:
    found = library()
    if found is None:
        return None
    function = found.prsm_references
    function.argtypes = (
        *(ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t),
        ctypes.POINTER(_Found),
    )
    function.restype = ctypes.c_ssize_t
    return function
