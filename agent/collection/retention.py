"""Retention of segments here after the manager has them.

Invariant: only what the centre said that it keeps is deleted, oldest first, and nothing that the
crawl's last commit still calls open. Where the disk lacks its reserve, time no longer
protects them.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agent.collection.holdings import Holdings
from agent.control.disk import free_bytes
from agent.settings import Settings

__all__ = ["drop_kept", "keep_room"]


def keep_room(settings: Settings, holdings: Holdings, say: Callable[[str], None]) -> None:
    """Delete segments that the centre has and that may go, and some of the trash."""
    from agent.adapters.ledger.trash import Trash  # noqa: PLC0415  # few ask

    folder, reserve_bytes = settings.home, settings.disk.reserve_bytes

    def short_of_disk() -> bool:
        return free_bytes(folder) < reserve_bytes

    count, freed_bytes = drop_kept(
        holdings, settings.collection.keep_s, time.time_ns() // 1_000_000, short_of_disk
    )
    if count:
        say(f"{count} segments that the manager has were deleted here, {freed_bytes} bytes")
    trash = Trash(holdings.segments.parent)
    count, freed_bytes = trash.empty(settings.disk.trash_s, time.time(), at_once=short_of_disk())
    if count:
        say(f"{count} files of {trash.folder} were deleted, {freed_bytes} bytes")


def drop_kept(
    holdings: Holdings, keep_s: float, now_ms: int, short_of_disk: Callable[[], bool]
) -> tuple[int, int]:
    """Delete segments whose time is over, or as many as the disk needs; return (count, bytes)."""
    count = freed_bytes = 0
    uncommitted = holdings.uncommitted
    for name in holdings.names():
        held = holdings.held(name)
        if not held.is_kept_there or name == uncommitted:
            continue
        over = held.doomed or now_ms - held.ended_ms >= keep_s * 1000
        if over or short_of_disk():
            freed_bytes += holdings.remove(name)
            count += 1
    holdings.forget_strangers()
    return count, freed_bytes
