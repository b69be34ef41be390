"""What readers that others wrote say of our files."""

from __future__ import annotations

import io
from dataclasses import dataclass

from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator


@dataclass(frozen=True)
class ForeignRecord:
    """A record as warcio and fastwarc both see it."""

    kind: str
    offset: int
    fields: dict[str, str]
    block_ok: bool | None
    payload_ok: bool | None
    payload: bytes


def foreign_records(data: bytes) -> list[ForeignRecord]:
    """Read a segment with warcio (digests) and fastwarc (digests, payload); they must agree.

    Payload digests of revisits are not comparable: their payload lies elsewhere.
    """
    seen: list[tuple[str, int, dict[str, str], bool | None]] = []
    iterator = ArchiveIterator(io.BytesIO(data), check_digests=True, verify_http=True)
    for record in iterator:
        while record.raw_stream.read(1 << 16):
            pass
        fields = dict(record.rec_headers.headers)
        seen.append(
            (record.rec_type, iterator.get_record_offset(), fields, record.digest_checker.passed)
        )
    records: list[ForeignRecord] = []
    fast = FastIterator(io.BytesIO(data), parse_http=False, strict_mode=True)
    for (kind, offset, fields, passed), record in zip(seen, fast, strict=True):
        assert record.record_id == fields["WARC-Record-ID"]
        block_ok = record.verify_block_digest(False)
        payload_ok = None
        if record.is_http and kind != "warcinfo":
            record.parse_http(max_header_len=1 << 20)
        if kind == "response":
            payload_ok = record.verify_payload_digest(False)
        payload = record.reader.read()
        assert (passed is not False) == (block_ok is not False and payload_ok is not False)
        records.append(ForeignRecord(kind, offset, fields, block_ok, payload_ok, payload))
    return records
