"""What on a page leads on: by the compiled reader, and by the parser's tree where that cannot.

    "next.html"                       a reference, as it stands in `<a href>`, `<script src>` ...
    ("link", {"rel": "next", ...})    an element that `links` must look at

The compiled reader (`shared/native/markup.zig`) is a browser's tokenizer and knows no tree. It says
so where the tree would decide, as in `<select>` or `<template>`; then `elements` is asked, which
reads every page. Invariant: both lead to the same links in the same order, but for pages that put
links where a table has no place for them, which browsers move in front of the table.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache
from typing import Final, Protocol

from agent.modules.page.elements import BEYOND_ASCII, Element, elements
from agent.modules.page.encodings import decoded
from shared.native import library

__all__ = ["Item", "leading_on"]

Item = str | Element

_END, _ELEMENT, _NAME, _VALUE = "\0", "\x01", "\x02", "\x03"
"""What ends an item, begins an element, an attribute and its value: no value holds one."""

_SLACK: Final = 64
"""Bytes beyond those of the page: what is written is never longer than what was read."""


class _Function(Protocol):
    def __call__(
        self, page: bytes, page_bytes: int, token: bytes, token_bytes: int, out: int, out_bytes: int
    ) -> int: ...


def leading_on(body: bytes, codec: str, agent_token: str) -> tuple[Iterable[Item], str]:
    """Return what leads on, in document order, and a note as `elements` has it.

    codec: of the body, as `charset_of` returns it. agent_token: whose `<meta>` counts, beside
    that of all robots.
    """
    read = _function()
    if read is None:
        return elements(body, codec)
    token = agent_token.lower().encode()
    if codec == "utf-8" or (codec not in BEYOND_ASCII and body.isascii()):
        text = _read(read, body, token)
    elif codec in BEYOND_ASCII:
        text = _read(read, decoded(body, codec).encode(), token)
    else:
        # In these encodings no mark of HTML is a part of another character.
        text = _read(read, body, token)
        if text is not None and not text.isascii():
            text = _read(read, decoded(body, codec).encode(), token)
    return elements(body, codec) if text is None else (_items(text), "")


def _read(read: _Function, page: bytes, token: bytes) -> str | None:
    """Return what the compiled reader writes of a page, or None where it cannot read it."""
    room = len(page) + _SLACK
    out = bytearray(room)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(out))
    size = read(page, len(page), token, len(token), begin, room)
    return None if size < 0 else out[:size].decode("utf-8", "replace")


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


@cache
def _function() -> _Function | None:
    found = library()
    if found is None:
        return None
    function = found.prsm_references
    function.argtypes = (
        *(ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t),
        *(ctypes.c_void_p, ctypes.c_size_t),
    )
    function.restype = ctypes.c_ssize_t
    return function
