"""Examination of a received segment: integrity, owners of its captures, fitness for distribution.

Runs in a child process without a database. The file is read three times: strictly, every trailer,
length and digest; then capture by capture, each judged; and as bytes for its digests. If all
captures are fit for distribution the file stays unchanged. Else it is divided, records unchanged:
public, withheld (noindex, noarchive), quarantined (of hosts that the agent did not hold then);
captures of excluded hosts are not kept.
Invariant: nothing of a segment is published here; parts lie in the job's folder.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from manager.assignment.right_history import RightHistory, RightPeriod
from manager.store.segments.fingerprint import page_text, simhash
from manager.store.segments.robots_words import HTML_TYPES, reason_to_withhold
from manager.store.segments.segment_index import IndexRow, RowsFile, read_rows
from manager.store.segments.segment_parts import PartKind, SegmentPart, copy_captures, finish_part
from shared.archive.cdxj import IndexEntry
from shared.archive.content_coding import decoded_body
from shared.archive.errors import DamageError
from shared.archive.reader import StoredCapture, iter_captures
from shared.archive.segment_facts import CaptureCounts
from shared.archive.verify import verify_segment
from shared.errors import LimitError, PrsmError
from shared.frozen import frozen
from shared.messages import Message
from shared.urls import host_of, reversed_host_key

__all__ = ["Examined", "RefusedSegment", "SegmentJob", "examine_segment"]

STRANGER: Final = "stranger"
EXCLUDED: Final = "excluded"
FUTURE_MS: Final = 24 * 3_600_000
"""A capture may be dated so much after its arrival: clocks differ, but not by days."""


@frozen
class SegmentJob:
    """A file to examine. It can be sent to another process.

    folder: empty, for what is made; removed by who asked. name: the segment's, if it stays whole.
    held: what the agent held in its time. excluded: host keys. now_ms: when it came.
    """

    path: Path
    sha256: str
    folder: Path
    name: str
    held: tuple[RightPeriod, ...]
    excluded: frozenset[str]
    now_ms: int
    memory_bytes: int
    cpu_s: float


@frozen
class Examined(CaptureCounts):
    """Result of an examination."""

    parts: tuple[SegmentPart, ...]


@frozen
class RefusedSegment:
    """Reason for which a file is not accepted."""

    message: Message


def examine_segment(job: SegmentJob) -> Examined | RefusedSegment:
    """Return what a segment holds, divided into parts, or why it is refused.

    Raises StoreFullError; the segment itself is never the cause of another error.
    """
    try:
        deadline = time.process_time() + job.cpu_s

        def in_time(_: IndexEntry) -> None:
            if time.process_time() > deadline:
                raise LimitError("segments.cpu_limit", cpu_s=job.cpu_s)

        verified = verify_segment(job.path, job.sha256, in_time)
        if not verified.captures:
            return RefusedSegment(Message("segments.empty"))
        if verified.last_ms is not None and verified.last_ms > job.now_ms + FUTURE_MS:
            ahead_ms = verified.last_ms - job.now_ms
            return RefusedSegment(Message("segments.capture_in_future", ahead_ms=ahead_ms))
        return _Division(job).examined(verified.first_ms or 0, verified.last_ms or 0)
    except PrsmError as error:
        if not isinstance(error, LimitError | DamageError):
            raise
        return RefusedSegment(Message("segments.unreadable", problem=error.message))


class _Division:
    """The captures of a segment by what may be done with them."""

    def __init__(self, job: SegmentJob) -> None:
        self._job = job
        self._history = RightHistory(job.held)
        self._counts = {"withheld": 0, "quarantined": 0, "refused": 0, "public": 0}

    def examined(self, first_ms: int, last_ms: int) -> Examined:
        """Divide the segment; the job's folder holds the parts."""
        rows = {kind: self._rows(kind) for kind in ("public", "withheld", "quarantined")}
        with ExitStack() as stack, self._job.path.open("rb") as file:
            files = {kind: stack.enter_context(RowsFile(path)) for kind, path in rows.items()}
            for stored in iter_captures(file):
                kind, row = self._judged(stored)
                self._counts[kind] += 1
                if kind != "refused":
                    files[kind].add(row)
        counts = self._counts
        total = sum(counts.values())
        return Examined(
            captures=total,
            strangers=counts["quarantined"],
            withheld=counts["withheld"],
            refused=counts["refused"],
            first_ms=first_ms,
            last_ms=last_ms,
            parts=tuple(self._parts(total)),
        )

    def _rows(self, kind: str) -> Path:
        return self._job.folder / f"{kind}.rows"

    def _judged(self, stored: StoredCapture) -> tuple[str, IndexRow]:
        capture = stored.capture
        plain = decoded_body(capture.response_header, capture.body)
        host = host_of(capture.url)
        path = capture.url[capture.url.index("/", 8) :]
        moment = capture.fetched_at_ms
        kind, reason = "public", None
        if host in self._job.excluded:
            kind, reason = "refused", EXCLUDED
        elif self._history.of_page(host, path, moment, moment) is None:
            kind, reason = "quarantined", STRANGER
        else:
            reason = reason_to_withhold(capture, plain)
            kind = "public" if reason is None else "withheld"
        is_text = capture.media_type in HTML_TYPES or capture.media_type == "text/plain"
        revisit = capture.revisit
        return kind, IndexRow(
            urlkey=reversed_host_key(capture.url),
            host=host,
            url=capture.url,
            fetched_ms=moment,
            status=capture.status,
            mime=capture.media_type,
            digest=capture.payload_digest or "",
            truncated=capture.truncated,
            refers_to_url=None if revisit is None else revisit.refers_to_uri,
            refers_to_ms=None if revisit is None else revisit.refers_to_date_ms,
            modified_ms=capture.last_modified_ms,
            body_bytes=len(plain),
            simhash=simhash(page_text(capture.response_header, plain)) if is_text else None,
            reason=reason,
            offset=stored.response_offset,
            length=stored.offset + stored.length - stored.response_offset,
            capture_offset=stored.offset,
            capture_length=stored.length,
        )

    def _parts(self, total: int) -> Iterator[SegmentPart]:
        job, memory_bytes = self._job, self._job.memory_bytes
        if self._counts["public"] == total:
            yield finish_part("public", job.name, job.path, self._rows("public"), memory_bytes)
            return
        stem = job.name.removesuffix(".warc.gz")
        kinds: tuple[tuple[PartKind, str], ...] = (
            ("public", "r1"),
            ("withheld", "withheld"),
            ("quarantined", "quarantine"),
        )
        for kind, word in kinds:
            if not self._counts[kind]:
                continue
            target = job.folder / f"{kind}.warc.gz"
            moved = job.folder / f"{kind}-moved.rows"
            with job.path.open("rb") as source:
                copy_captures(source, read_rows(self._rows(kind)), target, moved)
            yield finish_part(kind, f"{stem}-{word}.warc.gz", target, moved, memory_bytes)
