"""WARC/1.1 records: the header between bytes and fields, dates, ids and digests.

Headers are written by hand: this is the hot path of an agent, and the fields are few. The tests
read every form back with two foreign readers.

Source: WARC/1.1 (ISO 28500:2017), sections 4 and 5.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import re
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from shared.errors import FormatError

__all__ = [
    "MAX_HEADER_BYTES",
    "RECORD_END",
    "VERSION",
    "RecordHeader",
    "canonical_ip",
    "digest_matches",
    "new_digest",
    "parse_date_ms",
    "parse_header",
    "record_ids",
    "warc_date",
]

VERSION: Final = b"WARC/1.1\r\n"
RECORD_END: Final = b"\r\n\r\n"
MAX_HEADER_BYTES: Final = 64 << 10

_MAX_MS: Final = 253_402_300_800_000
_READABLE_VERSIONS: Final = ("WARC/1.1", "WARC/1.0")
_DATE: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?Z"
)

_VARIANTS: Final = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
"""By the digit that stood there: its two lower bits stay."""


class RecordHeader:
    """The named fields of one record, in their order; names compare without case."""

    __slots__ = ("_first", "fields", "version")

    def __init__(self, version: str, fields: list[tuple[str, str]]) -> None:
        self.version = version
        self.fields = fields
        self._first = {name.lower(): value for name, value in reversed(fields)}

    def get(self, name: str) -> str | None:
        """Return the first value of a field, None where it is missing."""
        return self._first.get(name.lower())

    def all(self, name: str) -> list[str]:
        """Return every value of a field that may be repeated."""
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def need(self, name: str) -> str:
        """Return the first value of a field; raises FormatError where it is missing."""
        value = self.get(name)
        if value is None:
            raise FormatError("archive_files.field_missing", name=name)
        return value

    @property
    def content_length(self) -> int:
        """The length of the block in bytes; raises FormatError where it is none."""
        value = self.need("Content-Length")
        if not (value.isascii() and value.isdigit() and len(value) < 16):
            raise FormatError("archive_files.content_length", value=value[:40])
        return int(value)

    @property
    def target_uri(self) -> str:
        """WARC-Target-URI, without the angle brackets of WARC/1.0."""
        value = self.need("WARC-Target-URI")
        return value[1:-1] if value.startswith("<") and value.endswith(">") else value

    @property
    def is_http(self) -> bool:
        """Return whether the block is an HTTP message."""
        return (self.get("Content-Type") or "").lower().startswith("application/http")


def parse_header(block: bytes) -> RecordHeader:
    """Return the fields of a record header, given without its empty line.

    Raises FormatError: no WARC version that this reads, a line without a colon, no UTF-8.
    """
    try:
        version, *lines = block.decode("utf-8").split("\r\n")
    except UnicodeDecodeError as error:
        raise FormatError("archive_files.header_not_utf8") from error
    if version not in _READABLE_VERSIONS:
        raise FormatError("archive_files.no_record", found=version[:40])
    fields: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (" ", "\t") and fields:
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if not colon or not name:
            raise FormatError("archive_files.header_line", line=line[:80])
        fields.append((name.rstrip(), value.strip(" \t")))
    return RecordHeader(version, fields)


def warc_date(ms: int) -> str:
    """Return milliseconds since 1970 as `2026-01-02T03:04:05.678Z`."""
    if not 0 <= ms < _MAX_MS:
        raise FormatError("archive_files.time_range", value=ms)
    seconds, rest = divmod(ms, 1000)
    return f"{_whole_second(seconds)}.{rest:03d}Z"


def parse_date_ms(text: str) -> int:
    """Return milliseconds since 1970 of a WARC-Date; finer fractions are cut off."""
    match = _DATE.fullmatch(text)
    if match is None:
        raise FormatError("archive_files.date_form", date=text[:40])
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise FormatError("archive_files.no_such_date", date=text) from error
    return int(moment.timestamp()) * 1000 + int((match[7] or "0").ljust(3, "0")[:3])


@lru_cache(maxsize=1024)
def canonical_ip(text: str) -> str:
    """Return an address in its canonical form; raises FormatError for a name or a zone."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError as error:
        raise FormatError("archive_files.ip_address", address=text[:60]) from error
    if "%" in text:
        raise FormatError("archive_files.ip_zone", address=text[:60])
    return address.compressed


def record_ids(content: bytes) -> tuple[str, str]:
    """Return two record ids named by content: `<urn:uuid:...>`.

    The same capture encoded again, as after the loss of a worker, keeps its ids.
    Source: RFC 9562, section 5.8 and B.2: UUIDv8 from SHA-256.
    """
    digest = hashlib.sha256(content).hexdigest()
    return _uuid8(digest[:32]), _uuid8(digest[32:])


def new_digest(label: str) -> hashlib._Hash | None:
    """Return an empty hash for a labelled digest, None for an algorithm we do not know."""
    algorithm = label.partition(":")[0].lower()
    if algorithm not in ("sha1", "sha256"):
        return None
    return hashlib.new(algorithm, usedforsecurity=False)


def digest_matches(label: str, computed: bytes) -> bool:
    """Return whether `sha1:BASE32`, or any label with hexadecimal, names this digest."""
    value = label.partition(":")[2]
    return value.lower() == computed.hex() or value == base64.b32encode(computed).decode()


@lru_cache(maxsize=64)
def _whole_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _uuid8(digits: str) -> str:
    return (
        f"<urn:uuid:{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-"
        f"{_VARIANTS[digits[16]]}{digits[17:20]}-{digits[20:]}>"
    )
