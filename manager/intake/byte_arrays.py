"""Texts by the thousand as bytes and bounds: what numpy and Arrow both read without a copy."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["PADDING", "SHOWN", "Indices", "Mask", "bytes_of", "cut"]

Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

PADDING: Final = b"\0" * 16
"""Stands behind bytes, so that one may look some places ahead of any."""

SHOWN: Final = bytes.maketrans(b"\x02\x03", b'\\"')
"""Shows bytes that were hidden while quotes were counted."""


def cut(bounds: Indices, buffer: pa.Buffer) -> pa.Array:
    """Return the pieces of some bytes between bounds, which rise."""
    offsets = pa.py_buffer(bounds.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(bounds) - 1, [None, offsets, buffer])


def bytes_of(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], Indices]:
    """Return the bytes of some texts, with padding behind them, and where each begins and ends."""
    _, offsets, buffer = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[: len(texts) + 1].astype(np.int64)
    return np.frombuffer(bytes(buffer) + PADDING, np.uint8), bounds
