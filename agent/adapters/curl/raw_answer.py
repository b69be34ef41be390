"""An HTTP/1.1 answer from the bytes of its connection, read as browsers read it.

Pure. For answers that libcurl refuses: the bytes come through libcurl all the same, as those of a
protocol without a header. The header is kept as it came, the body loses its chunks.
Invariant: never more than `most_header_bytes` of a header are kept, and what is refused has a
reason in words.
Source: RFC 9112; what browsers do beyond it is in docs/adr/0194.
"""

from __future__ import annotations

import re
from typing import Final

from shared.archive.http_block import header_end, header_values, status_code
from shared.plurals import with_plurals

__all__ = ["RawAnswer"]

_START_BYTES: Final = 8  # within which a status line begins: browsers pass over four bytes
_START: Final = re.compile(rb"(?i:http)|(?i:icy )")
_NO_BODY: Final = (204, 304)
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
_SIZE: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_MOST_SIZE_BYTES: Final = 16 * 1024  # of the line with a chunk's size and extensions


class RawAnswer:
    """Takes bytes as they come and gives back those of the body."""

    def __init__(self, most_header_bytes: int) -> None:
        self.header = b""  # of the final answer, with its empty line; empty: it is not whole yet
        self.refused = ""  # why it is not an answer
        self.complete = False  # nothing more belongs to it
        self.cut = False  # its end is missing, or broken
        self._most_bytes = most_header_bytes
        self._memory = b""
        self._left: int | None = None  # bytes until the end of the body, or chunk; None: unknown
        self._chunked = False
        self._in_chunk = False

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return what of them is body."""
        if self.complete or self.refused:
            return b""
        if self.header:
            return self._body(data)
        self._memory += data
        return self._look_for_header()

    def end(self) -> None:
        """Take note that the connection has ended."""
        if self.complete or self.refused:
            return
        if not self.header and self._memory:
            if _START.search(self._memory[:_START_BYTES]) is None:
                self.refused = "no status line"
        elif self._chunked or self._left:
            self.cut = True
        self.complete = True

    def _look_for_header(self) -> bytes:
        while True:
            start = _START.search(self._memory[:_START_BYTES])
            if start is None:
                if len(self._memory) >= _START_BYTES:
                    self.refused = "no status line"
                return b""
            self._memory = self._memory[start.start() :]
            end = header_end(self._memory)
            if (end if end >= 0 else len(self._memory)) > self._most_bytes:
                self.refused = with_plurals(f"header larger than {self._most_bytes} bytes")
                return b""
            if end < 0:
                return b""
            header, rest = self._memory[:end], self._memory[end:]
            status = status_code(header)
            if status is not None and 100 <= status <= 199 and status != 101:
                self._memory = rest  # an informational answer before the final one
                if rest:
                    continue
                return b""
            self._memory = b""
            self.refused = _refused(header, status)
            if self.refused:
                return b""
            self.header = header
            self._frame(status)
            return self._body(rest) if rest else b""

    def _frame(self, status: int | None) -> None:
        """Find out where the body ends. Source: RFC 9112, 6.3."""
        if status in _NO_BODY:
            self.complete = True
            return
        encodings = b",".join(header_values(self.header, "Transfer-Encoding")).lower()
        if encodings.rpartition(b",")[2].strip() == b"chunked" and status != 101:
            self._chunked = True
            return
        lengths = set(header_values(self.header, "Content-Length"))
        if encodings or len(lengths) != 1 or status == 101:
            return  # to the end of the connection, as where a length is none
        length = lengths.pop()
        if _LENGTH.fullmatch(length):
            self._left = int(length)
            self.complete = self._left == 0

    def _body(self, data: bytes) -> bytes:
        if self._chunked:
            return self._chunks(data)
        if self._left is None:
            return data
        taken = data[: self._left]
        self._left -= len(taken)
        self.complete = self._left == 0
        return taken

    def _chunks(self, data: bytes) -> bytes:
        found: list[bytes] = []
        data, self._memory = self._memory + data, b""
        at = 0
        while at < len(data) and not self.complete:
            if self._left:
                piece = data[at : at + self._left]
                found.append(piece)
                at += len(piece)
                self._left -= len(piece)
                self._in_chunk = True
                continue
            if self._in_chunk:  # the line end behind a chunk
                if data[at:] == b"\r":
                    break
                end = 2 if data.startswith(b"\r\n", at) else 1 if data.startswith(b"\n", at) else 0
                if not end:
                    self.cut = self.complete = True
                    break
                at += end
                self._in_chunk = False
                continue
            size = _SIZE.match(data, at)
            if size is None:
                if b"\n" in data[at:] or len(data) - at > _MOST_SIZE_BYTES:
                    self.cut = self.complete = True
                break
            at = size.end()
            self._left = int(size[1], 16)
            self.complete = self._left == 0  # trailers are not kept
        self._memory = data[at:] if not self.complete else b""
        return b"".join(found)


def _refused(header: bytes, status: int | None) -> str:
    """Return why browsers refuse a header; empty: they do not."""
    if b"\0" in header:
        return "a NUL byte in the header"
    if status is None:
        return "no status"
    if len(set(header_values(header, "Location"))) > 1:
        return "two different Location fields"
    return ""
