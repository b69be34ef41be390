"""Content codings of hosts, and a bounded cache of coded bodies."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable

import brotli

__all__ = ["BodyCache", "encode", "name_of_coding"]

_CACHE_BYTES = 64 * 1024 * 1024
_WBITS = {"gzip": 31, "deflate": 15, "deflate-raw": -15}
_LEVEL = 1  # a simulated host must be quick, not tight


def name_of_coding(coding: str) -> str:
    """Return what the header calls a host's coding; `deflate-raw` is a common mistake's name."""
    return "deflate" if coding == "deflate-raw" else coding


def encode(body: bytes, coding: str) -> bytes:
    """Compress a body; an empty coding changes nothing. The result depends on the body alone."""
    if not coding:
        return body
    if coding == "br":
        packed: bytes = brotli.compress(body, quality=_LEVEL)
        return packed
    packer = zlib.compressobj(_LEVEL, wbits=_WBITS[coding])
    return packer.compress(body) + packer.flush()


class BodyCache:
    """The latest bodies, up to a number of bytes."""

    def __init__(self, limit_bytes: int = _CACHE_BYTES) -> None:
        self._limit = limit_bytes
        self._bytes = 0
        self._bodies: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the body of a key, made if it is not there."""
        found = self._bodies.get(key)
        if found is not None:
            self._bodies.move_to_end(key)
            return found
        body = make()
        self._bodies[key] = body
        self._bytes += len(body)
        while self._bytes > self._limit and len(self._bodies) > 1:
            _, oldest = self._bodies.popitem(last=False)
            self._bytes -= len(oldest)
        return body
