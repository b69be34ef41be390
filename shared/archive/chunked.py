"""Chunked transfer coding, for archives of others: this project stores bodies without it.

Source: RFC 9112, section 7.1.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["dechunked"]

_SIZE: Final = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")


def dechunked(body: bytes) -> bytes:
    """Return the body without its chunks.

    A body that is not chunked comes back unchanged: some writers removed the chunks and left the
    header. One that ends early gives what there is; extensions and trailers are dropped.
    """
    parts: list[bytes] = []
    at = 0
    while at < len(body):
        match = _SIZE.match(body, at)
        if match is None:
            return body
        size = int(match[1], 16)
        if size == 0:
            break
        at = match.end() + size
        parts.append(body[match.end() : at])
        if body[at : at + 2] not in (b"\r\n", b"\r", b""):
            return body
        at += 2
    return b"".join(parts)
