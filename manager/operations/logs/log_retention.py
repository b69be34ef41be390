"""Retention of crawl log lines: old lines are removed, where a setting says so.

The report stays with its figures, and so do the results of its lines: sums, distances, rounds,
found hosts, activity. Searches, exports and comparisons have the rest.
Invariant: a file is removed before its row says so; a manager that dies in between does both again.
Lines that came since the start of the present or last round are kept: they are still in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from manager.db.engine import Database
from manager.db.logs import reports
from manager.db.logs.reports import ReportRow
from manager.db.rounds import rounds
from manager.operations.actor import Actor, note
from manager.store import Layout

__all__ = ["forget_logs"]

LOGS_AT_ONCE: Final = 500


def forget_logs(db: Database, layout: Layout, keep_s: float, actor: Actor, now_ms: int) -> int:
    """Remove the lines of logs that came longer ago than `keep_s` seconds; return of how many.

    keep_s 0: none. A file that cannot be removed (OSError) ends it; removals until then are
    recorded.
    """
    if not keep_s:
        return 0
    with db.read() as tx:
        last = rounds.newest(tx, 1)
    before_ms = min([now_ms - round(keep_s * 1000), *(one.started_ms for one in last)])
    forgotten, after = 0, 0
    while True:
        with db.read() as tx:
            old = reports.with_lines_before(tx, before_ms, after, LOGS_AT_ONCE)
        if not old:
            return forgotten
        gone, size_bytes, failed = _unlink(layout, old)
        if gone:
            with db.write() as tx:
                reports.forget_lines(tx, [row.id for row in gone])
                note(
                    tx,
                    now_ms,
                    actor,
                    "log.delete",
                    "",
                    logs=len(gone),
                    lines=sum(row.lines for row in gone),
                    bytes=size_bytes,
                    until_ms=gone[-1].received_ms,
                )
        if failed is not None:
            raise failed
        forgotten += len(gone)
        after = old[-1].id


def _unlink(
    layout: Layout, rows: Sequence[ReportRow]
) -> tuple[list[ReportRow], int, OSError | None]:
    """Remove files; return whose are gone, how large they were, and why there are not more."""
    gone: list[ReportRow] = []
    size_bytes = 0
    for row in rows:
        file = layout.kept / row.path
        try:
            if file.is_file():
                size_bytes += file.stat().st_size
                file.unlink(missing_ok=True)
        except OSError as error:
            return gone, size_bytes, error
        gone.append(row)
    return gone, size_bytes, None
