"""Crawl logs as intake leaves them, without sending them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from manager.db.engine import Database
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.logs.log_entry import accept_log
from manager.operations.logs.log_summary import LogSummary
from manager.store import Layout, LogFile
from shared.urls import host_of

__all__ = ["HOUR_MS", "add_log"]

HOUR_MS: Final = 3_600_000


def add_log(
    db: Database,
    layout: Layout,
    agent: AgentIdentity,
    hour: int,
    lines: Sequence[tuple[str, int | None]],
    *,
    held: bool = True,
    headers: bytes = b"X: \xff\r\n",
) -> None:
    """Enter a log of (URL with its port, status) that was fetched in one hour after the epoch."""
    sha256 = f"{hour:064x}"
    target = layout.log_file(agent.id, sha256)
    with LogFile(target.with_suffix(".part"), target) as file:
        for number, (url, status) in enumerate(lines, 2):
            host = host_of(url)
            head = b"" if status is None else b"HTTP/1.1 %d\r\n%s" % (status, headers)
            path = url[len(host) - 1 :]
            unit = host if held else None
            file.add((number, url, host, path, status, 100, 1000, 7, head, 1, "crawl", held, unit))
    summary = LogSummary(
        name=f"{agent.name}.{hour:012}",
        sha256=sha256,
        size_bytes=10,
        lines=len(lines),
        quarantined=0 if held else len(lines),
        since_ms=hour * HOUR_MS,
        until_ms=(hour + 1) * HOUR_MS,
        path=str(target.relative_to(layout.kept)),
    )
    accept_log(db, agent, summary, (hour + 1) * HOUR_MS)
