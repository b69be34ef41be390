"""A capture to the bytes of its records.

Pure and picklable on both sides: this runs in worker processes, and the process that owns the
segment only appends. Two records share a date and point at each other with WARC-Concurrent-To;
the request comes first, so that a capture is whole as soon as its response is. Each record is
a separate gzip member.

Invariant: what `encode_capture` accepts, `reader.read_capture` gives back equal.
"""

from __future__ import annotations

import hashlib
from typing import Final

from shared.archive.capture import IDENTICAL_PAYLOAD, Capture
from shared.archive.cdxj import REVISIT_TYPE, IndexEntry
from shared.archive.gzip_member import compress_member
from shared.archive.http_block import media_type, status_code, stored_header
from shared.archive.limits import check_capture, check_line
from shared.archive.record import RECORD_END, VERSION, canonical_ip, record_ids, warc_date
from shared.archive.surt_key import surt_key
from shared.errors import FormatError
from shared.frozen import frozen
from shared.urls import reversed_host_key

__all__ = [
    "PROFILE_URI",
    "EncodedCapture",
    "SegmentInfo",
    "encode_capture",
    "encode_warcinfo",
    "payload_digest",
]

PROFILE_URI: Final = "http://netpreserve.org/warc/1.1/revisit/"


@frozen
class EncodedCapture:
    """The records of one capture, ready to append.

    data    gzip members: the request where it is known, then the response or revisit
    entry   for the index; its offset counts from the first byte of `data`
    """

    data: bytes
    entry: IndexEntry

    @property
    def payload_digest(self) -> str:
        """`sha256:` and hexadecimal of the body; "" in a revisit that has none."""
        return self.entry.digest


@frozen
class SegmentInfo:
    """Fields of a `warcinfo` on the robot that wrote the segment; an empty field is left out."""

    software: str
    operator: str
    contact: str
    """Where the owner of a crawled site can complain: URL and mail address."""
    user_agent: str = ""
    hostname: str = ""
    robots: str = "RFC 9309"


def payload_digest(body: bytes) -> str:
    """Return the digest by which bodies are compared: `sha256:` and lower-case hexadecimal."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def encode_capture(capture: Capture) -> EncodedCapture:
    """Return the records of a capture.

    Raises FormatError or UrlError for what no segment can hold, LimitError for what is larger
    than the limits of `limits.py`.
    """
    check_capture(capture)
    revisit = capture.revisit
    body = capture.body
    header = stored_header(capture.response_header, len(body) if revisit is None else None)
    digest = (capture.payload_digest or "") if revisit else _checked_digest(capture)
    shared = f"WARC-Date: {warc_date(capture.fetched_at_ms)}\r\nWARC-Target-URI: {capture.url}\r\n"
    if capture.ip is not None:
        shared += f"WARC-IP-Address: {canonical_ip(capture.ip)}\r\n"

    payload = f"WARC-Payload-Digest: {digest}\r\n" if digest else ""
    answer = (
        f"WARC-Type: {'revisit' if revisit else 'response'}\r\n{shared}{_own_fields(capture)}"
        f"{payload}{_block_fields('response', header, body)}"
    ).encode()
    members = question = b""
    if capture.request:
        block = _block_fields("request", capture.request)
        question = f"WARC-Type: request\r\n{shared}{block}".encode()
    answer_id, question_id = record_ids(answer + question)
    own_id = f"WARC-Record-ID: {answer_id}\r\n"
    if question:
        ids = f"WARC-Record-ID: {question_id}\r\nWARC-Concurrent-To: {answer_id}\r\n"
        members = _member(question, ids, capture.request)
        own_id = f"WARC-Concurrent-To: {question_id}\r\n{own_id}"
    answer_member = _member(answer, own_id, header, body)
    return EncodedCapture(
        members + answer_member,
        IndexEntry(
            reversed_host_key(capture.url),
            surt_key(capture.url),
            capture.url,
            capture.fetched_at_ms,
            REVISIT_TYPE if revisit else media_type(capture.response_header),
            status_code(capture.response_header),
            digest,
            len(members),
            len(answer_member),
        ),
    )


def encode_warcinfo(info: SegmentInfo, filename: str, created_at_ms: int) -> bytes:
    """Return the first record of a segment, as one gzip member."""
    lines = {
        "software": info.software,
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "operator": info.operator,
        "contact": info.contact,
        "http-header-user-agent": info.user_agent,
        "hostname": info.hostname,
        "robots": info.robots,
    }
    for name, value in lines.items():
        if value:
            check_line(name, value)
    block = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value).encode()
    fields = (
        f"WARC-Type: warcinfo\r\nWARC-Date: {warc_date(created_at_ms)}\r\n"
        f"WARC-Filename: {filename}\r\nContent-Type: application/warc-fields\r\n"
        f"WARC-Block-Digest: {payload_digest(block)}\r\nContent-Length: {len(block)}\r\n"
    )
    record_id, _ = record_ids(fields.encode())
    return _member(fields.encode(), f"WARC-Record-ID: {record_id}\r\n", block)


def _member(fields: bytes, ids: str, block: bytes, body: bytes = b"") -> bytes:
    """Return a record. ids: its last fields, which name it."""
    return compress_member(
        b"".join((VERSION, fields, ids.encode(), b"\r\n", block, body, RECORD_END))
    )


def _block_fields(message: str, header: bytes, body: bytes = b"") -> str:
    digest = hashlib.sha256(header)
    if body:
        digest.update(body)
    return (
        f"Content-Type: application/http;msgtype={message}\r\n"
        f"WARC-Block-Digest: sha256:{digest.hexdigest()}\r\n"
        f"Content-Length: {len(header) + len(body)}\r\n"
    )


def _own_fields(capture: Capture) -> str:
    """Return the fields that only some captures have."""
    text = ""
    if capture.extra:
        text = "".join(f"{name}: {value}\r\n" for name, value in capture.extra.items())
    if capture.truncated is not None:
        text += f"WARC-Truncated: {capture.truncated}\r\n"
    revisit = capture.revisit
    if revisit is not None:
        text += (
            f"WARC-Profile: {PROFILE_URI}{revisit.profile}\r\n"
            f"WARC-Refers-To-Target-URI: {revisit.refers_to_uri}\r\n"
            f"WARC-Refers-To-Date: {warc_date(revisit.refers_to_date_ms)}\r\n"
        )
        if revisit.profile == IDENTICAL_PAYLOAD:  # the body is cut off: WARC/1.1, 6.7.2
            text += "WARC-Truncated: length\r\n"
    return text


def _checked_digest(capture: Capture) -> str:
    """Return the digest of the body; a given one must be right, or be of another algorithm."""
    digest = payload_digest(capture.body)
    given = capture.payload_digest
    if given is not None and given.startswith("sha256:") and given != digest:
        raise FormatError("archive_files.payload_digest", given=given[:80], digest=digest)
    return digest
