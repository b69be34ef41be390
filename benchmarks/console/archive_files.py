"""Segments of a manager's archive: files with their indexes and rows, as intake would have made.

`DISTINCT` segments are written and examined; those of each agent are hard links to them, so that
every row has its files and every file its digest, as a start and the checks of files demand.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from manager.assignment.right_history import RightPeriod
from manager.db.engine import Transaction
from manager.db.tables import arrivals, segments
from manager.store import Layout
from manager.store.segments.segment_examination import Examined, SegmentJob, examine_segment
from manager.store.segments.segment_parts import SegmentPart
from manager.store.segments.segment_store import segment_key
from shared.archive.capture import Capture
from shared.archive.encode import SegmentInfo, encode_capture, encode_warcinfo

__all__ = ["DISTINCT", "fill_archive", "segments_of"]

DISTINCT: Final = 20
"""Segments of each agent."""
CAPTURES: Final = 50
BODY: Final = b"<html><body>page %d of segment %d</body></html>"
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"


def segments_of(agents: int) -> int:
    """Return how many segments that many agents have sent."""
    return agents * DISTINCT


def fill_archive(tx: Transaction, layout: Layout, agents: int, host: str, now_ms: int) -> None:
    """Write segments of a host and their indexes, and enter them. host: its key, with a `/`."""
    made = [_examined(layout, number, host, now_ms) for number in range(DISTINCT)]
    for agent in range(1, agents + 1):
        for part in made:
            _link(layout, part, segment_key(agent, part.sha256))
        _enter(tx, made, agent, now_ms)


def _examined(layout: Layout, number: int, host: str, now_ms: int) -> SegmentPart:
    folder = layout.spool / f"segment-{number}"
    folder.mkdir()
    path = folder / "arrived.warc.gz"
    with path.open("wb") as file:
        file.write(encode_warcinfo(SegmentInfo("prsm", "bench", "bench"), path.name, now_ms))
        for page in range(CAPTURES):
            body = BODY % (page, number)
            url = f"{host}docs/{number}/page-{page}.html"
            request = b"GET /docs/ HTTP/1.1\r\n\r\n"
            file.write(encode_capture(Capture(url, now_ms, request, HEAD % len(body), body)).data)
    held = RightPeriod(host, now_ms - 1, None, 1, "crawl")
    job = SegmentJob(
        path, _sha256(path), folder, "s.warc.gz", (held,), frozenset(), now_ms, 2**28, 60.0
    )
    examined = examine_segment(job)
    assert isinstance(examined, Examined), examined
    (part,) = examined.parts
    assert part.kind == "public", "all captures are of the host that the agent holds"
    return part


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _link(layout: Layout, part: SegmentPart, key: str) -> None:
    index = layout.index_file(key)
    for source, target in (
        (part.path, layout.segments / key),
        (part.index, index),
        (part.cdxj, index.with_suffix(".cdxj")),
    ):
        target.parent.mkdir(exist_ok=True)
        os.link(source, target)


def _enter(tx: Transaction, made: list[SegmentPart], agent: int, now_ms: int) -> None:
    arrived, kept = [], []
    for number, part in enumerate(made, (agent - 1) * DISTINCT + 1):
        at_ms = now_ms - number * 1000
        both = {
            "id": number, "agent_id": agent, "name": f"s{number}.warc.gz", "sha256": part.sha256,
            "size_bytes": part.size_bytes, "captures": part.captures,
            "first_ms": part.first_ms, "last_ms": part.last_ms,
        }  # fmt: skip
        arrived.append(both | {"received_ms": at_ms})
        kept.append(both | {
            "arrival_id": number, "key": segment_key(agent, part.sha256), "kind": part.kind,
            "state": "current", "md5": part.md5, "sha1": part.sha1,
            "index_bytes": part.index_bytes, "index_sha256": part.index_sha256,
            "cdxj_bytes": part.cdxj_bytes, "cdxj_sha256": part.cdxj_sha256, "made_ms": at_ms,
        })  # fmt: skip
    tx.insert(arrivals, arrived)
    tx.insert(segments, kept)
