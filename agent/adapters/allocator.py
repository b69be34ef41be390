"""Has the C library keep memory that is given back, instead of returning it to the system.

A page's body, its tree and its record are asked for and given back thousands of times a second.
By default each larger one is mapped, touched for the first time page by page, and unmapped: that
doubled the time of a small page. Up to `KEPT_BYTES` stay with the process.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Final

__all__ = ["keep_freed_memory"]

KEPT_BYTES: Final = 64 << 20
MAPPED_BYTES: Final = 32 << 20  # what is larger is mapped: glibc knows no more
AHEAD_BYTES: Final = 1 << 20

# malloc.h of glibc.
_TRIM_THRESHOLD: Final = -1
_TOP_PAD: Final = -2
_MMAP_THRESHOLD: Final = -3


def keep_freed_memory() -> None:
    """Set the C library's memory limits; a library without them, as musl, is left alone."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, MAPPED_BYTES)
        mallopt(_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(_TOP_PAD, AHEAD_BYTES)
