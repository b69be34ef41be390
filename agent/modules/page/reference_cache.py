"""Remembers what references name, from page to page: the pages of one folder share most of them.

Only what depends on nothing but the folder: not `?page=2`, nor what the page's encoding changes.

Invariant: bounded whatever comes: at most `MAX_REMEMBERED` references and folders, each of them
and its URL of at most `MAX_CHARACTERS`. When they are full all are forgotten, which costs less
than to know which of them was of use.
"""

from __future__ import annotations

from typing import Final

__all__ = ["UNKNOWN", "folder_memory", "forget", "remember"]

MAX_REMEMBERED: Final = 16_384
"""About 5 MB, at the very most 20."""

MAX_CHARACTERS: Final = 400

UNKNOWN: Final = "?"
"""Placeholder of a URL that is not remembered; no URL is equal to it."""

Memory = dict[str, str | None]

_folders: dict[str, Memory] = {}
_count = 0


def folder_memory(folder: str) -> Memory:
    """Return what references in a folder are known to name; changed by `remember` alone."""
    known = _folders.get(folder)
    if known is None:
        known = {}
        if len(folder) <= MAX_CHARACTERS:
            _count_one()
            _folders[folder] = known
    return known


def remember(known: Memory, reference: str, url: str | None) -> None:
    """Enter what a reference names into the memory of its folder."""
    if len(reference) <= MAX_CHARACTERS and (url is None or len(url) <= MAX_CHARACTERS):
        _count_one()
        known[reference] = url


def forget() -> None:
    """Forget all."""
    global _count
    _folders.clear()
    _count = 0


def _count_one() -> None:
    global _count
    if _count >= MAX_REMEMBERED:
        forget()
    _count += 1
