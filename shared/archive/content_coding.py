"""Bodies without their content encoding, as an export and a fingerprint need them.

gzip and deflate, which is what our robots ask for. Invariant: what is inflated stays within a
limit, and a body that cannot be decoded comes back as it is stored: an archive loses nothing.
"""

from __future__ import annotations

import zlib
from typing import Final

from shared.archive.http_block import header_value
from shared.archive.limits import MAX_BODY_BYTES

__all__ = ["decoded_body"]

_MAGIC: Final = b"\x1f\x8b"


def decoded_body(header: bytes, body: bytes, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Return the body of a response without its content encoding.

    One of several encodings, of another kind, broken, or longer than the limit: as it is. A body
    that was cut gives what can be read of it.
    """
    named = (header_value(header, "Content-Encoding") or b"").strip().lower()
    if not body or named in (b"", b"identity"):
        return body
    if named in (b"gzip", b"x-gzip"):
        return _inflated(body, 31, limit_bytes) if body.startswith(_MAGIC) else body
    if named == b"deflate":
        plain = _inflated(body, 15, limit_bytes)
        return _inflated(body, -15, limit_bytes) if plain is body else plain
    return body


def _inflated(body: bytes, window_bits: int, limit_bytes: int) -> bytes:
    parts: list[bytes] = []
    length = 0
    rest = body
    while rest:
        inflater = zlib.decompressobj(window_bits)
        try:
            part = inflater.decompress(rest, limit_bytes - length + 1)
        except zlib.error:
            break
        parts.append(part)
        length += len(part)
        if length > limit_bytes:
            return body
        rest = inflater.unused_data
        if not inflater.eof or (window_bits == 31 and not rest.startswith(_MAGIC)):
            break
    return b"".join(parts) if parts else body
