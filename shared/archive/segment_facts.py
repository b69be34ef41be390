"""Facts of a segment that its examination finds and its rows keep: counts, sizes, digests."""

from __future__ import annotations

from shared.frozen import frozen

__all__ = ["CaptureCounts", "HostShare", "SegmentFacts"]


@frozen
class CaptureCounts:
    """Counts of the captures of an arrived file. refused: of excluded hosts, which no part has."""

    captures: int
    strangers: int
    withheld: int
    refused: int
    first_ms: int
    last_ms: int


@frozen
class SegmentFacts:
    """A segment with its index and CDXJ."""

    name: str
    kind: str
    size_bytes: int
    md5: str
    sha1: str
    sha256: str
    index_bytes: int
    index_sha256: str
    cdxj_bytes: int
    cdxj_sha256: str
    captures: int
    first_ms: int
    last_ms: int


@frozen
class HostShare:
    """A segment's captures of one host. bytes: of the records, requests included."""

    captures: int
    bytes: int
    first_ms: int
    last_ms: int
