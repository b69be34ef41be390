"""Segments as agents send them, for tests of what the centre does with them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from manager.db.engine import Transaction
from manager.db.hosts import hosts as host_rows
from manager.db.tables import rights as right_table
from manager.operations.segments.segment_outcomes import Arrived, Outcome
from shared.archive.capture import Capture, Revisit
from shared.archive.encode import SegmentInfo, encode_capture, encode_warcinfo, payload_digest
from tests.manager.running import START_MS, Agent, Running, fill

__all__ = ["INFO", "arrived", "collected", "hold", "page", "revisit_of", "segment_bytes"]

INFO = SegmentInfo(software="prsm/0", operator="test", contact="mailto:test@example.org")


def page(
    url: str = "http://www.example.jp/",
    body: bytes = b"<html><body>hello</body></html>",
    *,
    at_ms: int = START_MS,
    status: str = "200 OK",
    mime: str = "text/html; charset=utf-8",
    fields: str = "",
) -> Capture:
    """Return the capture of a page."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {mime}\r\nContent-Length: {len(body)}\r\n{fields}"
    request = f"GET / HTTP/1.1\r\nHost: {url.split('/')[2]}\r\n\r\n"
    return Capture(
        url=url,
        fetched_at_ms=at_ms,
        request=request.encode(),
        response_header=f"{head}\r\n".encode(),
        body=body,
        ip="192.0.2.1",
    )


def revisit_of(earlier: Capture, at_ms: int, *, url: str = "") -> Capture:
    """Return a later capture that found the same body, perhaps under another URL."""
    return Capture(
        url=url or earlier.url,
        fetched_at_ms=at_ms,
        request=earlier.request,
        response_header=earlier.response_header,
        ip=earlier.ip,
        payload_digest=payload_digest(earlier.body),
        revisit=Revisit("identical-payload-digest", earlier.url, earlier.fetched_at_ms),
    )


def segment_bytes(captures: Iterable[Capture], name: str = "x.warc.gz") -> bytes:
    """Return a sealed segment of captures."""
    written = io.BytesIO()
    written.write(encode_warcinfo(INFO, name, START_MS))
    for capture in captures:
        written.write(encode_capture(capture).data)
    return written.getvalue()


def arrived(folder: Path, data: bytes, name: str = "x.warc.gz") -> Arrived:
    """Return a file that came whole."""
    path = folder / f"incoming-{hashlib.sha256(data).hexdigest()[:16]}"
    path.write_bytes(data)
    return Arrived(path, name, hashlib.sha256(data).hexdigest(), len(data))


def hold(prsm: Running, agent: Agent, *hosts: str) -> None:
    """Make hosts known, and let an agent hold them since long before."""
    fill(prsm, *hosts)
    with prsm.manager.db.write() as tx:
        _grant(tx, agent, [f"{host.rstrip('/')}/" for host in hosts])


def _grant(tx: Transaction, agent: Agent, keys: list[str]) -> None:
    for unit in host_rows.units_of_hosts(tx, keys):
        tx.insert(
            right_table,
            [
                {
                    "unit_id": unit.id,
                    "group_id": unit.host_id,
                    "agent_id": agent.identity.id,
                    "kind": "crawl",
                    "granted_ms": START_MS - 40 * 86_400_000,
                }
            ],
        )


@dataclass(frozen=True, slots=True)
class Collected:
    """What became of a segment that an agent sent."""

    outcome: Outcome
    file: Arrived


def collected(
    prsm: Running,
    agent: Agent,
    captures: Iterable[Capture],
    name: str = "x.warc.gz",
) -> Collected:
    """Let an agent's segment arrive and be accepted or not."""
    file = arrived(prsm.manager.layout.data, segment_bytes(captures, name), name)
    return Collected(prsm.manager.archive.intake.accept(agent.identity, file), file)
