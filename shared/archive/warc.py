"""The WARC side of the archive, as other packages import it.

An agent: `encode_capture` in its workers, `SegmentWriter` in its one store, `recover_segment` at
its start. The centre: `verify_segment` on what arrives, `iter_captures` and `read_capture` on what
it gives away.
"""

from __future__ import annotations

from shared.archive.capture import (
    IDENTICAL_PAYLOAD,
    NOT_MODIFIED,
    Capture,
    Revisit,
    RevisitProfile,
    Truncation,
)
from shared.archive.cdxj import CdxjSorter, IndexEntry, cdxj_line
from shared.archive.encode import (
    EncodedCapture,
    SegmentInfo,
    encode_capture,
    encode_warcinfo,
    payload_digest,
)
from shared.archive.errors import DamageError, DiskFullError, SegmentBrokenError
from shared.archive.limits import MAX_BODY_BYTES, MAX_HTTP_HEADER_BYTES
from shared.archive.reader import StoredCapture, iter_captures, read_capture
from shared.archive.recover import Recovery, recover_segment
from shared.archive.segment import (
    INDEX_SUFFIX,
    OPEN_SUFFIX,
    SUM_SUFFIX,
    Location,
    OpenSegment,
    SealedSegment,
)
from shared.archive.verify import VerifiedSegment, verify_segment
from shared.archive.writer import DEFAULT_MAX_BYTES, SegmentWriter, segment_name

__all__ = [
    "DEFAULT_MAX_BYTES",
    "IDENTICAL_PAYLOAD",
    "INDEX_SUFFIX",
    "MAX_BODY_BYTES",
    "MAX_HTTP_HEADER_BYTES",
    "NOT_MODIFIED",
    "OPEN_SUFFIX",
    "SUM_SUFFIX",
    "Capture",
    "CdxjSorter",
    "DamageError",
    "DiskFullError",
    "EncodedCapture",
    "IndexEntry",
    "Location",
    "OpenSegment",
    "Recovery",
    "Revisit",
    "RevisitProfile",
    "SealedSegment",
    "SegmentBrokenError",
    "SegmentInfo",
    "SegmentWriter",
    "StoredCapture",
    "Truncation",
    "VerifiedSegment",
    "cdxj_line",
    "encode_capture",
    "encode_warcinfo",
    "iter_captures",
    "payload_digest",
    "read_capture",
    "recover_segment",
    "segment_name",
    "verify_segment",
]
