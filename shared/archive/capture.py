"""One fetched page as the archive keeps it.

A capture is plain data: whoever made it, a fetch or the reader of a segment. The writer refuses
what cannot be stored (`encode.py`), not this module.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal, get_args

from shared.archive import http_block
from shared.frozen import frozen

__all__ = [
    "IDENTICAL_PAYLOAD",
    "NOT_MODIFIED",
    "TRUNCATION_REASONS",
    "Capture",
    "Revisit",
    "RevisitProfile",
    "Truncation",
]

Truncation = Literal["length", "time", "disconnect", "unspecified"]
RevisitProfile = Literal["identical-payload-digest", "server-not-modified"]

TRUNCATION_REASONS: Final[tuple[Truncation, ...]] = get_args(Truncation)
IDENTICAL_PAYLOAD: Final = "identical-payload-digest"
NOT_MODIFIED: Final = "server-not-modified"


@frozen
class Revisit:
    """Location of the body that this capture found unchanged (WARC/1.1, 6.7)."""

    profile: RevisitProfile
    refers_to_uri: str
    refers_to_date_ms: int
    """`fetched_at_ms` of that capture."""


@frozen
class Capture:
    """One request and its answer.

    url             canonical
    fetched_at_ms   milliseconds since 1970, UTC: the request's start
    request         request line and header as sent, with the empty line; empty: not known
    response_header status line and header as received, with the empty line
    body            without transfer encoding, with content encoding; empty in a revisit
    ip              address that answered; IPv6 without zone
    truncated       why the body is shorter than what the server had, or None
    payload_digest  `sha256:` and hexadecimal of the body; None: the writer computes it.
                    In a revisit with an identical payload it is the original's, and needed
    extra           more named fields of the response record
    """

    url: str
    fetched_at_ms: int
    request: bytes
    response_header: bytes
    body: bytes = b""
    ip: str | None = None
    truncated: Truncation | None = None
    payload_digest: str | None = None
    revisit: Revisit | None = None
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int | None:
        """The HTTP status, None where the status line has none."""
        return http_block.status_code(self.response_header)

    @property
    def media_type(self) -> str:
        """`text/html` of `Content-Type: Text/HTML; charset=x`; `unk` where there is none."""
        return http_block.media_type(self.response_header)

    @property
    def last_modified_ms(self) -> int:
        """Milliseconds since 1970 of `Last-Modified`, 0 where it is missing or unreadable."""
        return http_block.last_modified_ms(self.response_header)
