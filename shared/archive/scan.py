"""Reads a segment of this project as strictly as its writer wrote it.

`verify.py` asks with digests, whether every byte is right; `recover.py` without, how far a torn
file is whole. Foreign files, which may be laid out in other ways, are for `reader.py`.

The grammar: warcinfo, then captures; a capture is a request and its response or revisit, or the
answer alone. Each record is the only one of its gzip member, all members have the same header,
nothing lies between or behind them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO, Final

from shared.archive.cdxj import REVISIT_TYPE, IndexEntry
from shared.archive.errors import DamageError
from shared.archive.http_block import (
    header_end,
    header_value,
    media_type,
    received_header,
    status_code,
)
from shared.archive.limits import MAX_BODY_BYTES, MAX_HTTP_HEADER_BYTES
from shared.archive.record import RecordHeader, digest_matches, new_digest, parse_date_ms
from shared.archive.stream import RecordStream, StoredRecord
from shared.archive.surt_key import surt_key
from shared.errors import PrsmError
from shared.urls import reversed_host_key

__all__ = ["SegmentScan"]

_STORED_HEADER_BYTES: Final = 4 * MAX_HTTP_HEADER_BYTES
_ANSWERS: Final = ("response", "revisit")


class SegmentScan:
    """One pass over a segment; iterate once.

    whole_to   offset behind the last whole capture, or behind the warcinfo
    """

    def __init__(self, file: BinaryIO, *, check_digests: bool) -> None:
        self.whole_to = 0
        self._check_digests = check_digests
        self._records = RecordStream(file)
        self._member_header = b""

    def __iter__(self) -> Iterator[IndexEntry]:
        """Give the index entry of each whole capture; raises DamageError where the file breaks."""
        end = self._warcinfo()
        request: tuple[int, RecordHeader] | None = None
        while (record := self._records.next()) is not None:
            if record.offset != end:
                raise DamageError(end, "archive_files.bytes_between")
            head = self._examine(record)
            length = self._records.end - record.offset
            end = self._records.end
            if record.kind == "request":
                if request is not None:
                    break
                request = (record.offset, record.header)
                continue
            if request is not None and not _belong_together(request[1], record.header):
                break
            request = None
            self.whole_to = end
            if record.kind in _ANSWERS:
                yield _entry(record, head, length)
        if request is not None:
            raise DamageError(request[0], "archive_files.request_alone")
        if end != self._records.end:
            raise DamageError(end, "archive_files.bytes_behind")

    def _warcinfo(self) -> int:
        record = self._records.next()
        if record is None:
            raise DamageError(0, "archive_files.empty_file")
        if not self._records.is_gzip:
            raise DamageError(0, "archive_files.not_compressed")
        self._member_header = record.member_header
        if record.offset != 0 or record.kind != "warcinfo":
            raise DamageError(0, "archive_files.no_warcinfo")
        self._examine(record)
        self.whole_to = self._records.end
        return self.whole_to

    def _examine(self, record: StoredRecord) -> bytes:
        """Read the block of a record and check it; return its HTTP header as stored, or b""."""
        if not record.alone:
            raise DamageError(record.offset, "archive_files.several_records")
        if record.member_header != self._member_header:
            raise DamageError(record.offset, "archive_files.member_header")
        most = MAX_BODY_BYTES + _STORED_HEADER_BYTES
        if record.length > most:
            raise DamageError(
                record.offset, "archive_files.large_record", size=record.length, most=most
            )
        digests = _Digests(record) if self._check_digests else None
        has_http_header = in_header = record.kind in _ANSWERS
        head = b""
        while data := record.read():
            if digests is not None:
                digests.block(data)
            if in_header:
                head += data
                cut = header_end(head)
                if cut < 0:
                    if len(head) > _STORED_HEADER_BYTES:
                        raise DamageError(record.offset, "archive_files.http_header_open")
                    continue
                head, data, in_header = head[:cut], head[cut:], False
            if digests is not None and has_http_header:
                digests.payload(data)
        if in_header:
            raise DamageError(record.offset, "archive_files.http_header_open")
        if not self._records.finish():
            raise DamageError(record.offset, "archive_files.several_records")
        if digests is not None:
            digests.compare(head)
        return head


class _Digests:
    """The digests of a record: as claimed and as computed."""

    def __init__(self, record: StoredRecord) -> None:
        self._offset = record.offset
        self._is_response = record.kind == "response"
        self._claims = {
            name: record.header.get(f"WARC-{name}-Digest") or "" for name in ("Block", "Payload")
        }
        self._hashes = {
            name: new_digest(claim) or hashlib.sha256() for name, claim in self._claims.items()
        }

    def block(self, data: bytes) -> None:
        self._hashes["Block"].update(data)

    def payload(self, data: bytes) -> None:
        self._hashes["Payload"].update(data)

    def compare(self, head: bytes) -> None:
        """Raise DamageError where a digest is missing or wrong."""
        if header_value(head, "Transfer-Encoding") is not None:
            raise DamageError(self._offset, "archive_files.transfer_encoding")
        for name in ("Block", "Payload") if self._is_response else ("Block",):
            claim, computed = self._claims[name], self._hashes[name]
            if not digest_matches(claim, computed.digest()):
                raise DamageError(
                    self._offset,
                    "archive_files.digest_wrong" if claim else "archive_files.digest_missing",
                    name=f"WARC-{name}-Digest",
                    claim=(claim or "")[:100],
                    computed=f"{computed.name}:{computed.hexdigest()}",
                )


def _belong_together(request: RecordHeader, answer: RecordHeader) -> bool:
    return (
        (answer.get("WARC-Type") or "").lower() in _ANSWERS
        and request.get("WARC-Record-ID") in answer.all("WARC-Concurrent-To")
        and answer.get("WARC-Record-ID") in request.all("WARC-Concurrent-To")
        and all(request.get(name) == answer.get(name) for name in ("WARC-Target-URI", "WARC-Date"))
    )


def _entry(record: StoredRecord, stored: bytes, length: int) -> IndexEntry:
    header = record.header
    received = received_header(stored)
    try:
        url = header.target_uri
        return IndexEntry(
            urlkey=reversed_host_key(url),
            surt=surt_key(url),
            url=url,
            fetched_at_ms=parse_date_ms(header.need("WARC-Date")),
            mime=REVISIT_TYPE if record.kind == "revisit" else media_type(received),
            status=status_code(received),
            digest=header.get("WARC-Payload-Digest") or "",
            offset=record.offset,
            length=length,
        )
    except PrsmError as error:
        raise DamageError(record.offset, error.message) from error
