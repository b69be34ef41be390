"""Limits of a segment: everything that is refused before a byte is written.

Invariant: a capture that passes is written, read back equal, and accepted by foreign readers.
"""

from __future__ import annotations

import re
from typing import Final

from shared.archive.capture import IDENTICAL_PAYLOAD, TRUNCATION_REASONS, Capture
from shared.archive.http_block import header_end
from shared.errors import FormatError, LimitError

__all__ = [
    "MAX_BODY_BYTES",
    "MAX_HTTP_HEADER_BYTES",
    "MAX_URL_CHARACTERS",
    "OWN_FIELDS",
    "check_capture",
    "check_line",
]

MAX_BODY_BYTES: Final = 64 << 20
"""Three times the largest page the crawl takes by default."""

MAX_HTTP_HEADER_BYTES: Final = 64 << 10
MAX_URL_CHARACTERS: Final = 8192
MAX_EXTRA_CHARACTERS: Final = 16 << 10

OWN_FIELDS: Final = frozenset(
    {
        "content-length",
        "content-type",
        "warc-block-digest",
        "warc-concurrent-to",
        "warc-date",
        "warc-ip-address",
        "warc-payload-digest",
        "warc-profile",
        "warc-record-id",
        "warc-refers-to-date",
        "warc-refers-to-target-uri",
        "warc-target-uri",
        "warc-truncated",
        "warc-type",
    }
)
"""Fields that a capture sets by its attributes; every other one is `extra`."""

_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_DIGEST: Final = re.compile(r"[a-z0-9-]+:[0-9A-Za-z+/=_-]+")


def check_capture(capture: Capture) -> None:
    """Raise FormatError or LimitError for a capture that no segment can hold."""
    if len(capture.url) > MAX_URL_CHARACTERS:
        raise LimitError("archive_files.long_url", length=len(capture.url), most=MAX_URL_CHARACTERS)
    if not _VISIBLE.fullmatch(capture.url):
        raise FormatError("archive_files.url_not_canonical", url=capture.url[:200])
    if len(capture.body) > MAX_BODY_BYTES:
        raise LimitError("archive_files.large_body", size=len(capture.body), most=MAX_BODY_BYTES)
    _check_header("response", capture.response_header)
    if capture.request:
        _check_header("request", capture.request)
    if capture.truncated is not None and capture.truncated not in TRUNCATION_REASONS:
        raise FormatError(
            "archive_files.truncation_reason", value=capture.truncated, known=TRUNCATION_REASONS
        )
    if capture.extra:
        _check_extra(capture.extra)
    if capture.revisit is not None:
        _check_revisit(capture)


def _check_header(name: str, block: bytes) -> None:
    if len(block) > MAX_HTTP_HEADER_BYTES:
        raise LimitError(
            "archive_files.large_header", name=name, size=len(block), most=MAX_HTTP_HEADER_BYTES
        )
    if not _is_one_block(block):
        raise FormatError("archive_files.header_end", name=name)


def _is_one_block(block: bytes) -> bool:
    """Return whether a block ends with its only empty line."""
    if block.endswith(b"\r\n\r\n") and b"\n\n" not in block:  # as servers write them
        return block.find(b"\n\r\n") == len(block) - 3
    return header_end(block) == len(block)


def _check_extra(extra: dict[str, str]) -> None:
    if sum(len(name) + len(value) for name, value in extra.items()) > MAX_EXTRA_CHARACTERS:
        raise LimitError("archive_files.extra_fields_long", most=MAX_EXTRA_CHARACTERS)
    for name, value in extra.items():
        if not _NAME.fullmatch(name) or name.lower() in OWN_FIELDS:
            raise FormatError("archive_files.extra_field_name", name=name[:60])
        check_line(name, value)
    if len({name.lower() for name in extra}) != len(extra):
        raise FormatError("archive_files.extra_field_twice")


def _check_revisit(capture: Capture) -> None:
    revisit = capture.revisit
    assert revisit is not None
    if capture.body:
        raise FormatError("archive_files.revisit_body")
    if capture.truncated is not None:
        raise FormatError("archive_files.revisit_truncated")
    if not _VISIBLE.fullmatch(revisit.refers_to_uri):
        raise FormatError("archive_files.revisit_url", url=revisit.refers_to_uri[:200])
    if len(revisit.refers_to_uri) > MAX_URL_CHARACTERS:
        raise LimitError("archive_files.revisit_url_long", most=MAX_URL_CHARACTERS)
    digest = capture.payload_digest
    if digest is None and revisit.profile == IDENTICAL_PAYLOAD:
        raise FormatError("archive_files.revisit_digest")
    if digest is not None and not _DIGEST.fullmatch(digest):
        raise FormatError("archive_files.digest_form", digest=digest[:80])


def check_line(name: str, value: str) -> None:
    """Raise FormatError for a field that is not one line, printable and without outer spaces."""
    if not value or not value.isprintable() or value != value.strip():
        raise FormatError("archive_files.not_one_line", name=name, value=value[:60])
