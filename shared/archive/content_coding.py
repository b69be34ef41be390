"""Removes the content encodings of a body: its output is counted, capped, and never lost.

A body that is cut, damaged or larger than allowed gives what could be decoded, and a note that
says why it is not all. What a request asks for is a setting; a server that sends another encoding
than it was asked for is understood too (`UNDERSTOOD`). The agent reads pages so, the centre makes
exports and fingerprints of them.
Source: RFC 9110, 8.4; RFC 1950 to 1952 (gzip, deflate), 7932 (br), 8878 and 9659 (zstd).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import Any, Final, cast

from isal import isal_zlib
from isal.igzip_lib import IsalError

from shared.archive.http_block import header_values
from shared.archive.limits import MAX_BODY_BYTES
from shared.frozen import frozen
from shared.plurals import with_plurals

__all__ = ["GZIP", "UNDERSTOOD", "Decoded", "decode_content", "decoded_body", "is_text"]

MAX_ENCODINGS: Final = 5
CHUNK_BYTES: Final = 16 * 1024
ENDS_EARLY: Final = "ends early"
TEXT_BYTES: Final = 256
"""Of a body show whether it is text."""

_NOT_TEXT: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
GZIP: Final = b"\x1f\x8b"
"""How a packed file begins (RFC 1952, 2.3.1)."""

_SIGNS: Final = {
    "gzip": (b"\x1f\x8b",),
    "x-gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd", *(bytes((0x50 + one, 0x2A, 0x4D, 0x18)) for one in range(16))),
}
"""First bytes of a body with an encoding (RFC 1952, 2.3.1; RFC 8878, 3.1)."""

_GZIP: Final = 31
_ZLIB: Final = 15
_RAW: Final = -15
_ISAL_ERROR: Final = cast("type[Exception]", IsalError)  # isal's stubs do not say so
_ZSTD_WINDOW_LOG: Final = 23
"""8 MB, the most that RFC 9659 lets a server use: a frame may ask for gigabytes."""


@frozen
class Decoded:
    """A body without its encodings; `note` is empty where it is whole.

    is_left: an encoding is left on it, or it is longer than allowed. unknown: a name in the list
    that is no encoding, or none that is understood; the body was taken for not having it. absent:
    an encoding in the list that the body does not have.
    """

    body: bytes
    note: str = ""
    is_left: bool = False
    unknown: str = ""
    absent: str = ""


def decode_content(body: bytes, encodings: str, max_bytes: int) -> Decoded:
    """Return a body without the encodings that a Content-Encoding lists.

    encodings: as sent, "" where there is none; the last one listed was put on last. A name that is
    no encoding (`none`, `utf-8`, `text/html`) means nothing: servers that send it send the body as
    it is, and browsers show it. One that exists and is not understood stays on. One that the body
    shows not to have (no sign of gzip, or plain text) is not taken off: a server of errors says
    `gzip` of unpacked data. max_bytes holds for the outcome of each step.
    """
    if not encodings:
        return Decoded(body)
    names = [name.partition(";")[0].strip(' \t"').lower() for name in encodings.split(",")]
    names = [name for name in names if name and name != "identity"]
    if len(names) > MAX_ENCODINGS:
        note = with_plurals(f"decode-error: {len(names)} encodings, {MAX_ENCODINGS} are taken off")
        return Decoded(body, note, is_left=True)
    notes: list[str] = []
    is_left, unknown, absent = False, "", ""
    for name in reversed(names):
        decode = _DECODERS.get(name)
        if decode is None:
            unknown = ascii(name[:40].strip())[1:-1]
            if name in _NOT_UNDERSTOOD:  # encodings below it cannot be reached
                is_left = True
                break
            continue
        step = decode(body, max_bytes) if body else Decoded(body)
        if step.note and not step.body and not _may_have(name, body, step.note):
            absent = name
            continue
        body = step.body
        if step.note:
            notes.append(step.note)
            is_left = is_left or len(body) >= max_bytes
    return Decoded(body, "; ".join(notes), is_left, unknown, absent)


def _may_have(name: str, body: bytes, note: str) -> bool:
    """Return whether a body of which nothing could be taken off may have an encoding at all.

    note: why nothing could; a stream that was cut fits as far as it goes.
    """
    signs = _SIGNS.get(name)
    if signs is not None:
        return any(body.startswith(sign) or sign.startswith(body) for sign in signs)
    return note.endswith(ENDS_EARLY) or not is_text(body)


def is_text(body: bytes) -> bool:
    """Return whether a body begins as text in an encoding that has ASCII."""
    return _NOT_TEXT.search(body, 0, TEXT_BYTES) is None


def decoded_body(header: bytes, body: bytes, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Return the body of a response without its content encoding, as an export has it.

    header: the response's. One that cannot be decoded, or becomes longer than the limit:
    as stored, because an archive loses nothing. One that was cut gives its readable part.
    """
    encodings = b",".join(header_values(header, "Content-Encoding")).decode("latin-1")
    decoded = decode_content(body, encodings, limit_bytes)
    return body if decoded.is_left or (decoded.note and not decoded.body) else decoded.body


def _gunzip(body: bytes, max_bytes: int) -> Decoded:
    quick = _at_once(body, _GZIP, max_bytes)
    if quick is not None:
        return Decoded(quick)
    out = bytearray()
    rest = body
    while True:
        problem, rest = _inflate(rest, _GZIP, max_bytes, out)
        # Members may follow one another; anything else behind the end is ignored, as browsers do.
        if problem or not rest.startswith(b"\x1f\x8b"):
            return Decoded(bytes(out), problem)


def _undeflate(body: bytes, max_bytes: int) -> Decoded:
    """Take `deflate` off: zlib's format by the standard, the bare stream or gzip by many."""
    if body.startswith(_SIGNS["gzip"]):
        return _gunzip(body, max_bytes)
    wrapped = len(body) >= 2 and body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    window = _ZLIB if wrapped else _RAW
    quick = _at_once(body, window, max_bytes)
    if quick is not None:
        return Decoded(quick)
    out = bytearray()
    problem, _ = _inflate(body, window, max_bytes, out)
    if problem and not out and wrapped:
        problem, _ = _inflate(body, _RAW, max_bytes, out)
    return Decoded(bytes(out), problem)


def _unbrotli(body: bytes, max_bytes: int) -> Decoded:
    import brotli  # noqa: PLC0415  # few agents ask for it

    decoder: Any = brotli.Decompressor()
    out = bytearray()
    data = body
    try:
        while not decoder.is_finished():
            piece = decoder.process(data, output_buffer_limit=CHUNK_BYTES)
            out += piece
            data = b""
            if len(out) > max_bytes:
                return _too_long(out, max_bytes)
            if not piece and decoder.can_accept_more_data() and not decoder.is_finished():
                return Decoded(bytes(out), f"decode-error: brotli stream {ENDS_EARLY}")
    except brotli.error:
        return Decoded(bytes(out), "decode-error: brotli stream is damaged")
    return Decoded(bytes(out))


def _unzstd(body: bytes, max_bytes: int) -> Decoded:
    """Take `zstd` off: frames may follow one another, and an empty one says nothing."""
    from backports import zstd  # noqa: PLC0415  # few agents ask for it

    window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    out = bytearray()
    rest = body
    while rest:
        decoder = zstd.ZstdDecompressor(options=window)
        try:
            while not decoder.eof:
                piece = decoder.decompress(rest, min(CHUNK_BYTES, max_bytes + 1 - len(out)))
                rest = b""
                out += piece
                if len(out) > max_bytes:
                    return _too_long(out, max_bytes)
                if not piece and decoder.needs_input and not decoder.eof:
                    return Decoded(bytes(out), f"decode-error: zstd stream {ENDS_EARLY}")
        except zstd.ZstdError as error:
            return Decoded(bytes(out), f"decode-error: zstd: {_plain(error)}")
        rest = decoder.unused_data
    return Decoded(bytes(out))


def _at_once(body: bytes, window: int, max_bytes: int) -> bytes | None:
    """Return a whole and sound stream decoded by the fast library, None for any other."""
    decoder = isal_zlib.decompressobj(window)
    try:
        out = decoder.decompress(body, max_bytes + 1)
    except _ISAL_ERROR:
        return None
    sound = decoder.eof and not decoder.unused_data and len(out) <= max_bytes
    return out if sound else None


def _inflate(body: bytes, window: int, max_bytes: int, out: bytearray) -> tuple[str, bytes]:
    """Append the decoded stream to `out`; return what went wrong, and the bytes behind its end."""
    decoder = zlib.decompressobj(window)
    for start in range(0, len(body), CHUNK_BYTES):
        data = body[start : start + CHUNK_BYTES]
        before = decoder.copy()
        try:
            while data and not decoder.eof:
                out += decoder.decompress(data, max_bytes + 1 - len(out))
                if len(out) > max_bytes:
                    del out[max_bytes:]
                    return f"decode-error: more than {max_bytes} bytes decoded", b""
                data = decoder.unconsumed_tail
        except zlib.error as error:
            kept = len(out)
            _byte_by_byte(before, body[start : start + CHUNK_BYTES], max_bytes - kept, out)
            return f"decode-error: {_plain(error)}", b""
        if decoder.eof:
            return "", decoder.unused_data + body[start + CHUNK_BYTES :]
    return f"decode-error: compressed stream {ENDS_EARLY}", b""


def _byte_by_byte(decoder: Any, data: bytes, max_bytes: int, out: bytearray) -> None:
    """Append the bytes before the damage inside a piece."""
    for at in range(len(data)):
        if max_bytes <= 0:
            return
        try:
            piece = decoder.decompress(data[at : at + 1], max_bytes)
        except zlib.error:
            return
        out += piece
        max_bytes -= len(piece)


def _too_long(out: bytearray, max_bytes: int) -> Decoded:
    return Decoded(bytes(out[:max_bytes]), f"decode-error: more than {max_bytes} bytes decoded")


def _plain(error: Exception) -> str:
    return str(error).rpartition(": ")[2] or "damaged stream"


_DECODERS: Final[dict[str, Callable[[bytes, int], Decoded]]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}

_NOT_UNDERSTOOD: Final = frozenset(
    (
        "compress",
        "x-compress",
        "bzip2",
        "x-bzip2",
        "lzma",
        "xz",
        "exi",
        "pack200-gzip",
        "dcb",
        "dcz",
    )
)
"""Encodings that exist, and that servers send only on request."""

UNDERSTOOD: Final = ("gzip", "deflate", "br", "zstd")
"""What may be asked for in Accept-Encoding, and is taken off."""
