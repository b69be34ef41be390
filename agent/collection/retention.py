"""Retention of segments here after the manager has them.

Invariant: only what the centre said that it keeps is deleted, oldest first, and nothing that the
crawl's last commit still calls open. Where the disk lacks its reserve, time no longer
protects them.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agent.collection.segment_records import SegmentRecords
from agent.control.disk import free_bytes
from agent.control.robot_log import LineLogger
from agent.settings import Settings

__all__ = ["apply_retention", "delete_archived"]


def apply_retention(settings: Settings, records: SegmentRecords, log_line: LineLogger) -> None:
    """Delete segments that the centre has and that may go, and some of the trash."""
    from agent.adapters.ledger.trash import Trash  # noqa: PLC0415  # few ask

    folder, reserve_bytes = settings.home, settings.disk.reserve_bytes

    def short_of_disk() -> bool:
        return free_bytes(folder) < reserve_bytes

    count, freed_bytes = delete_archived(
        records, settings.collection.segment_retention_s, time.time_ns() // 1_000_000, short_of_disk
    )
    if count:
        log_line(f"{count} segments that the manager has were deleted here, {freed_bytes} bytes")
    trash = Trash(records.segment_folder.parent)
    kept_s = settings.disk.trash_retention_s
    count, freed_bytes = trash.empty(kept_s, time.time(), at_once=short_of_disk())
    if count:
        log_line(f"{count} files of {trash.folder} were deleted, {freed_bytes} bytes")


def delete_archived(
    records: SegmentRecords, keep_s: float, now_ms: int, short_of_disk: Callable[[], bool]
) -> tuple[int, int]:
    """Delete segments whose time is over, or as many as the disk needs; return (count, bytes)."""
    count = freed_bytes = 0
    uncommitted = records.uncommitted
    for name in records.names():
        segment = records.read(name)
        if not segment.is_archived or name == uncommitted:
            continue
        over = segment.doomed or now_ms - segment.ended_ms >= keep_s * 1000
        if over or short_of_disk():
            freed_bytes += records.remove(name)
            count += 1
    records.remove_stale()
    return count, freed_bytes
