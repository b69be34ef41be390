"""HTTP header blocks: as received, and as a segment stores them.

Validators and replay tools agree on where a header ends and how long a body is only for plain
blocks. So the stored form differs from the received one, and says how:

- A body is stored without its transfer encoding. `Transfer-Encoding` becomes
  `X-Crawl-Transfer-Encoding`, a received `Content-Length` becomes `X-Crawl-Content-Length`, and
  the last line is the true `Content-Length`. The same for a length that the body has not, as
  that of a truncated one.
- `HTTP/2 200` becomes `HTTP/1.1 200`, and the line is kept as `X-Crawl-Status-Line`.
- A block that is not plain (bare line feeds, folded lines, lines without a colon, control
  characters) is stored cleaned, and whole as `X-Crawl-Header`, percent-encoded.

Invariant: `received_header(stored_header(x, n)) == x`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from shared.retry_after import date_s

__all__ = [
    "UNKNOWN_TYPE",
    "content_type_of",
    "header_end",
    "header_value",
    "header_values",
    "last_modified_ms",
    "media_type",
    "received_header",
    "status_code",
    "stored_header",
]

UNKNOWN_TYPE: Final = "unk"
"""The word of CDX for an unknown media type."""

_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_TEXT: Final = rb"[^\x00-\x08\x0a-\x1f\x7f]*"
_VERSIONS: Final = (b"HTTP/1.1 ", b"HTTP/1.0 ")
_PLAIN: Final = re.compile(
    rb"HTTP/[0-9](?:\.[0-9])? " + _TEXT + rb"\r\n(?:" + _TOKEN + rb":" + _TEXT + rb"\r\n)*\r\n"
)
_END: Final = re.compile(rb"\n\r?\n")
_FIELD: Final = re.compile(rb"(" + _TOKEN + rb")[ \t]*:[ \t]*(.*)", re.DOTALL)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]+")
_NOTED: Final = re.compile(
    rb"\n(?:(?P<transfer>Transfer-Encoding)|(?P<length>Content-Length)|X-Crawl-[^:]*):"
    rb"[ \t]*(?P<value>[^\r\n]*)",
    re.IGNORECASE,
)
_FRAMING: Final = re.compile(rb"\n(?=(?:Transfer-Encoding|Content-Length):)", re.IGNORECASE)
_MARKED: Final = re.compile(rb"\nX-Crawl-(?=(?:Transfer-Encoding|Content-Length):)", re.IGNORECASE)
_ADDED_LENGTH: Final = re.compile(rb"\nContent-Length: [0-9]+\r\n\r\n\Z")
_STATUS_LINE: Final = b"X-Crawl-Status-Line: "
_WHOLE: Final = b"X-Crawl-Header: "
_STATUS: Final = re.compile(rb"[^\s]+[ \t]+([0-9]{3})(?![0-9])")
_MEDIA_TYPE: Final = re.compile(_TOKEN + rb"/" + _TOKEN)
_COMMA_SEPARATED: Final = re.compile(rb'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_CHARSET: Final = re.compile(rb';[ \t]*charset=(?:"(?:[^"\\]|\\.)*"?|[^;]*)', re.IGNORECASE)
_BODILESS: Final = (204, 304)


def stored_header(received: bytes, body_length: int | None) -> bytes:
    """Return the block as stored before a body of `body_length` bytes.

    received ends with an empty line and has none before. None: the body is not stored (a
    revisit), so a received Content-Length stays what it was.
    """
    if _PLAIN.fullmatch(received):
        if received.startswith(_VERSIONS) and _tells_the_truth(received.lower(), body_length):
            return received
        noted = list(_NOTED.finditer(received))
        if all(field["transfer"] or field["length"] for field in noted):
            return _framed(received, noted, body_length)
    whole = _WHOLE + quote_from_bytes(received, safe=" /:;,=").encode() + b"\r\n"
    cleaned = _cleaned(received)
    framed = _framed(cleaned, list(_NOTED.finditer(cleaned)), body_length)
    return framed[:-2] + whole + b"\r\n"


def _tells_the_truth(lowered: bytes, body_length: int | None) -> bool:
    """Return whether a plain block, in lower case, can be stored unchanged: most can."""
    if b"\ntransfer-encoding:" in lowered or b"\nx-crawl-" in lowered:
        return False
    if body_length is None:
        return True
    lengths = lowered.count(b"\ncontent-length:")
    return lengths == 0 or (lengths == 1 and b"\ncontent-length: %d\r\n" % body_length in lowered)


def received_header(stored: bytes) -> bytes:
    """Return the block as received; a block without our marks comes back unchanged."""
    if b"\nX-Crawl-" not in stored:
        return stored
    _, found, last = stored.rpartition(b"\n" + _WHOLE)
    if found and last.endswith(b"\r\n\r\n"):
        return unquote_to_bytes(last[:-4])
    if _MARKED.search(stored):
        stored = _MARKED.sub(b"\n", _ADDED_LENGTH.sub(b"\n\r\n", stored))
    line, _, fields = stored.partition(b"\r\n")
    if fields.startswith(_STATUS_LINE):
        line, _, fields = fields[len(_STATUS_LINE) :].partition(b"\r\n")
    return line + b"\r\n" + fields


def header_end(block: bytes) -> int:
    """Return the length of a header block with its empty line, -1 where the line is missing."""
    match = _END.search(block)
    return -1 if match is None else match.end()


@lru_cache(maxsize=4)  # who works on a page asks several times
def status_code(header: bytes) -> int | None:
    """Return the three digits of the status line, None where there are none."""
    match = _STATUS.match(header)
    return None if match is None else int(match[1])


def header_value(header: bytes, name: str) -> bytes | None:
    """Return the first value of a field without white space around it, None where missing."""
    match = _field_pattern(name).search(b"\n" + header)
    return None if match is None else match[1].strip()


def header_values(header: bytes, name: str) -> list[bytes]:
    """Return the values of all fields with a name, in order."""
    return [value.strip() for value in _field_pattern(name).findall(b"\n" + header)]


@lru_cache(maxsize=4)
def content_type_of(header: bytes) -> bytes:
    """Return the Content-Type that counts: the last valid one of all fields; empty: there is none.

    One without a charset takes that of the one before it, if both say the same type.
    Source: Fetch standard, 2.2.2 (extract a MIME type).
    """
    values = header_values(header, "Content-Type")
    if len(values) == 1 and b"," not in values[0]:  # nearly always
        return values[0]
    chosen = essence = charset = b""
    for value in _COMMA_SEPARATED.findall(b",".join(values)):
        match = _MEDIA_TYPE.match(value.strip())
        if match is None or match[0] == b"*/*":
            continue
        named = _CHARSET.search(value)
        if match[0].lower() != essence:
            charset = b""
        essence, chosen = match[0].lower(), value.strip()
        charset = named[0] if named else charset
        if not named:
            chosen += charset
    return chosen or (values[0] if values else b"")


@lru_cache(maxsize=4)
def media_type(header: bytes) -> str:
    """Return `type/subtype` of Content-Type in lower case, UNKNOWN_TYPE without."""
    match = _MEDIA_TYPE.match(content_type_of(header))
    return UNKNOWN_TYPE if match is None else match[0].decode("ascii").lower()


def last_modified_ms(header: bytes) -> int:
    """Return Last-Modified in milliseconds since 1970, 0 where it is missing or unreadable."""
    value = header_value(header, "Last-Modified")
    moment_s = None if value is None else date_s(value.decode("latin-1"))
    return 0 if moment_s is None else round(moment_s * 1000)


@lru_cache(maxsize=64)
def _field_pattern(name: str) -> re.Pattern[bytes]:
    # It begins with a byte that has no case, so the search goes from line to line.
    return re.compile(rb"\n(?i:" + re.escape(name.encode("ascii")) + rb")[ \t]*:([^\r\n]*)")


def _framed(plain: bytes, noted: list[re.Match[bytes]], body_length: int | None) -> bytes:
    """Return a plain block whose framing fields describe the body as stored."""
    block = plain
    chunked = any(field["transfer"] for field in noted)
    if chunked or (body_length is not None and _misstated(plain, noted, body_length)):
        block = _FRAMING.sub(b"\nX-Crawl-", block)
        if body_length is not None:
            block = b"%bContent-Length: %d\r\n\r\n" % (block[:-2], body_length)
    if not block.startswith(_VERSIONS):
        line, _, fields = block.partition(b"\r\n")
        code = line.partition(b" ")[2]
        block = b"HTTP/1.1 %b\r\n%b%b\r\n%b" % (code, _STATUS_LINE, line, fields)
    return block


def _misstated(plain: bytes, noted: list[re.Match[bytes]], body_length: int) -> bool:
    lengths = {field["value"].rstrip() for field in noted if field["length"]}
    if not lengths or lengths == {b"%d" % body_length}:
        return False
    return status_code(plain) not in _BODILESS


def _cleaned(received: bytes) -> bytes:
    """Return a plain block that means what a hostile one probably means."""
    first, *lines = (_CONTROL.sub(b" ", line).rstrip() for line in received.split(b"\n"))
    status = _STATUS.match(first)
    if not first.startswith(_VERSIONS):
        first = b"HTTP/1.1 " + (b"000" if status is None else status[1])
    fields: list[bytes] = []
    for line in lines:
        match = _FIELD.fullmatch(line)
        if match is not None and not line.lower().startswith(b"x-crawl-"):
            fields.append(b"%b: %b" % (match[1], match[2].strip()))
        elif line.startswith((b" ", b"\t")) and fields:
            fields[-1] += b" " + line.strip()
    return b"\r\n".join([first, *fields, b"", b""])
