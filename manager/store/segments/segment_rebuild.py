"""Rebuild of the index and digests of a segment whose row is lost. Runs in a child process.

If its index still exists, that holds the segment's name and its public captures; else the segment
is read strictly and judged like a new one. Invariant: the bytes match the key, and nothing is
published here.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from manager.assignment.right_history import RightPeriod
from manager.store.segments.index_summary import summary_of
from manager.store.segments.segment_examination import (
    Examined,
    RefusedSegment,
    SegmentJob,
    examine_segment,
)
from manager.store.segments.segment_index import rows_in_file_order
from manager.store.segments.segment_parts import finish_part
from shared.archive.reader import iter_captures
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.messages import Message
from shared.urls import host_of

__all__ = ["RebuildJob", "rebuild_segment"]

READ_BYTES: Final = 65_536
_FILENAME: Final = re.compile(
    rb"^WARC-Filename: ([A-Za-z0-9][A-Za-z0-9._-]{0,180}\.warc\.gz)\r?$", re.MULTILINE
)


@frozen
class RebuildJob:
    """A segment without a row. indexes: where its index may be. name: empty, as the index says.

    job: how it is examined where there is no index. trusted: then its captures count as held.
    """

    job: SegmentJob
    indexes: tuple[Path, ...]
    name: str
    trusted: bool


def rebuild_segment(asked: RebuildJob) -> Examined | RefusedSegment:
    """Return the parts of a segment, one where its index is left; or why it is refused."""
    job = asked.job
    for index in asked.indexes:
        summary = summary_of(index, job.memory_bytes)
        if summary is None or summary.end > job.path.stat().st_size:
            continue
        rows = job.folder / "kept.rows"
        rows_in_file_order(index, rows, job.memory_bytes, [])
        name = asked.name or summary.name
        part = finish_part(summary.kind, name, job.path, rows, job.memory_bytes)
        if part.sha256 != job.sha256:
            return RefusedSegment(
                Message("segments.key_mismatch", found=part.sha256, expected=job.sha256)
            )
        is_public = part.kind == "public"
        return Examined(
            captures=part.captures,
            strangers=part.captures if part.kind == "quarantined" else 0,
            withheld=0 if is_public or part.kind == "quarantined" else part.captures,
            refused=0,
            first_ms=part.first_ms,
            last_ms=part.last_ms,
            parts=(part,),
        )
    job = replace(job, name=asked.name or warcinfo_name(job.path) or job.name)
    return examine_segment(replace(job, held=_all_hosts(job.path)) if asked.trusted else job)


def warcinfo_name(path: Path) -> str:
    """Return the name that a segment's first record gives it; empty: none that we would give."""
    try:
        with path.open("rb") as file:
            head = zlib.decompressobj(wbits=31).decompress(file.read(READ_BYTES), READ_BYTES)
    except (OSError, zlib.error):
        return ""
    found = _FILENAME.search(head.partition(b"\r\n\r\n")[0])
    return found[1].decode() if found else ""


def _all_hosts(path: Path) -> tuple[RightPeriod, ...]:
    """Return rights to all hosts of a segment, at any time."""
    hosts: set[str] = set()
    with suppress(PrsmError), path.open("rb") as file:  # examined, it is refused with the reason
        for stored in iter_captures(file):
            hosts.add(host_of(stored.capture.url))
    return tuple(
        RightPeriod(unit=host, since_ms=0, until_ms=None, round=0, kind="crawl")
        for host in sorted(hosts)
    )
