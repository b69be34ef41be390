"""Files that are sent while they are made, each piece in a thread of its sender's share.

Starlette's own way would take a thread of a pool that knows no shares: forty files of one person
would keep all of them, and the processors, from everybody else.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

__all__ = ["in_threads"]

_Piece = TypeVar("_Piece", str, bytes)


async def in_threads(pieces: Iterator[_Piece]) -> AsyncIterator[_Piece]:
    """Yield pieces that are made in threads; whatever ends it, close what makes them."""
    try:
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            with contextlib.suppress(RuntimeError, ValueError):  # it may be running still
                await asyncio.shield(asyncio.to_thread(close))
