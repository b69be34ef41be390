"""Captures of a segment: all of them in order, or one at its offset.

Reads what this project writes and what other crawlers do: the request before or behind its
response, chunked bodies, several records in a gzip member, no compression. Records that are no
HTTP exchange are passed over.

Invariant: at most one capture and one request are held, and a body above the limit is refused
before it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO, Final

from shared.archive.capture import (
    IDENTICAL_PAYLOAD,
    NOT_MODIFIED,
    TRUNCATION_REASONS,
    Capture,
    Revisit,
    RevisitProfile,
    Truncation,
)
from shared.archive.chunked import dechunked
from shared.archive.errors import DamageError
from shared.archive.http_block import header_end, header_value, received_header
from shared.archive.limits import MAX_BODY_BYTES, MAX_HTTP_HEADER_BYTES, OWN_FIELDS
from shared.archive.record import RecordHeader, parse_date_ms
from shared.archive.stream import RecordStream
from shared.errors import FormatError, LimitError
from shared.frozen import frozen

__all__ = ["StoredCapture", "iter_captures", "read_capture"]

_STORED_HEADER_BYTES: Final = 4 * MAX_HTTP_HEADER_BYTES
"""A hostile header is stored twice, the second time percent-encoded."""


@frozen
class StoredCapture:
    """A capture and where it lies: its records fill [offset, offset + length) of the file."""

    capture: Capture
    offset: int
    length: int
    response_offset: int
    """What an index points at."""


@dataclass(slots=True)
class _Half:
    """A record that waits for the other one of its capture."""

    is_request: bool
    header: RecordHeader
    offset: int
    end: int
    block: bytes

    def belongs_to(self, other: RecordHeader) -> bool:
        """Return whether one of the two refers to the other, or neither does and the rest fits."""
        ids = (self.header.get("WARC-Record-ID"), other.get("WARC-Record-ID"))
        links = (other.all("WARC-Concurrent-To"), self.header.all("WARC-Concurrent-To"))
        if links[0] or links[1]:
            return ids[0] in links[0] or ids[1] in links[1]
        names = ("WARC-Target-URI", "WARC-Date")
        return all(self.header.get(name) == other.get(name) for name in names)


def iter_captures(
    file: BinaryIO, offset: int = 0, max_body_bytes: int = MAX_BODY_BYTES
) -> Iterator[StoredCapture]:
    """Give the captures of a segment in order.

    Raises DamageError where the file breaks, after the captures before it; LimitError for a body
    above the limit.
    """
    request: _Half | None = None
    waiting: _Half | None = None  # a response whose request may follow
    try:
        for half in _halves(file, offset, max_body_bytes):
            if half.is_request:
                if waiting is not None and waiting.belongs_to(half.header):
                    done, waiting = _joined(waiting, half), None
                    yield done
                else:
                    request = half
                continue
            if waiting is not None:
                done, waiting = _joined(waiting, None), None
                yield done
            if request is not None and request.belongs_to(half.header):
                yield _joined(half, request)
            else:
                waiting = half
            request = None
    except (DamageError, LimitError):
        if waiting is not None:
            yield _joined(waiting, None)
        raise
    if waiting is not None:
        yield _joined(waiting, None)


def read_capture(file: BinaryIO, offset: int, max_body_bytes: int = MAX_BODY_BYTES) -> Capture:
    """Return the capture at the offset of its request, or of its response (then without request).

    Raises DamageError where no capture begins there.
    """
    request: _Half | None = None
    for half in islice(_halves(file, offset, max_body_bytes), 2):
        if request is None and half.offset != offset:
            break
        if not half.is_request:
            fits = request is not None and request.belongs_to(half.header)
            return _joined(half, request if fits else None).capture
        request = half
    raise DamageError(offset, "archive_files.no_capture")


def _halves(file: BinaryIO, offset: int, max_body_bytes: int) -> Iterator[_Half]:
    """Give the HTTP messages among the records of a file."""
    records = RecordStream(file, offset)
    while (record := records.next()) is not None:
        if record.kind not in ("request", "response", "revisit") or not record.header.is_http:
            continue
        if record.length > max_body_bytes + _STORED_HEADER_BYTES:
            raise LimitError(
                "archive_files.large_record_to_read",
                offset=record.offset,
                size=record.length,
                most=max_body_bytes,
            )
        block = record.read_all()
        records.finish()
        yield _Half(record.kind == "request", record.header, record.offset, records.end, block)


def _joined(answer: _Half, request: _Half | None) -> StoredCapture:
    start, end = answer.offset, answer.end
    sent = b""
    if request is not None:
        start, end = min(start, request.offset), max(end, request.end)
        sent = request.block
    try:
        capture = _capture(answer, sent)
    except FormatError as error:
        raise DamageError(answer.offset, error.message) from error
    return StoredCapture(capture, start, end - start, answer.offset)


def _capture(answer: _Half, request: bytes) -> Capture:
    header = answer.header
    cut = header_end(answer.block)
    if cut < 0:
        cut = len(answer.block)
    received = received_header(answer.block[:cut])
    body = answer.block[cut:]
    stored_chunked = header_value(answer.block[:cut], "Transfer-Encoding") or b""
    if stored_chunked.lower().endswith(b"chunked"):
        body = dechunked(body)
    revisit = _revisit(header)
    return Capture(
        url=header.target_uri,
        fetched_at_ms=parse_date_ms(header.need("WARC-Date")),
        request=request,
        response_header=received,
        body=body,
        ip=header.get("WARC-IP-Address"),
        truncated=None if revisit else _truncation(header),
        payload_digest=header.get("WARC-Payload-Digest"),
        revisit=revisit,
        extra={name: value for name, value in header.fields if name.lower() not in OWN_FIELDS},
    )


def _truncation(header: RecordHeader) -> Truncation | None:
    value = header.get("WARC-Truncated")
    if value is None:
        return None
    return next((reason for reason in TRUNCATION_REASONS if reason == value), "unspecified")


def _revisit(header: RecordHeader) -> Revisit | None:
    if header.need("WARC-Type").lower() != "revisit":
        return None
    profile: RevisitProfile
    named = header.need("WARC-Profile").rstrip("/").rpartition("/")[2]
    if named == IDENTICAL_PAYLOAD:
        profile = IDENTICAL_PAYLOAD
    elif named == NOT_MODIFIED:
        profile = NOT_MODIFIED
    else:
        raise FormatError("archive_files.unknown_profile", profile=named[:60])
    date = header.get("WARC-Refers-To-Date") or header.need("WARC-Date")
    uri = header.get("WARC-Refers-To-Target-URI") or header.target_uri
    return Revisit(profile, uri, parse_date_ms(date))
