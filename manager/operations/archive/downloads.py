"""Downloads of third parties: stored every few seconds, listed, forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from manager.db.archive import downloads
from manager.db.archive.downloads import DownloadRow, Taken
from manager.db.engine import Database
from shared.errors import check_choice

__all__ = [
    "KEEP_MS",
    "STALLED_MS",
    "STATES",
    "DownloadRow",
    "Taken",
    "forget_downloads",
    "list_downloads",
    "store_downloads",
]

STATES: Final = ("going", "done", "cut")
STALLED_MS: Final = 15 * 60_000
"""A download that took nothing for so long is cut, also where its end was not seen."""

KEEP_MS: Final = 90 * 86_400_000
MOST_ROWS: Final = 1000


def store_downloads(db: Database, taken: Sequence[Taken]) -> None:
    """Record the downloads since the last call."""
    if taken:
        with db.write() as tx:
            downloads.store_progress(tx, taken)


def list_downloads(
    db: Database,
    now_ms: int,
    *,
    client: str = "",
    state: str = "",
    before: int | None = None,
    limit: int = 100,
) -> list[DownloadRow]:
    """Return downloads, those that began last first, before a number. Raises FormatError."""
    if state:
        check_choice("state", state, STATES)
    with db.read() as tx:
        return downloads.downloads_before(
            tx,
            client=client,
            state=state,
            before=before,
            limit=max(1, min(limit, MOST_ROWS)),
            stalled_ms=now_ms - STALLED_MS,
        )


def forget_downloads(db: Database, now_ms: int) -> int:
    """Forget the downloads that took nothing for 90 days; return how many."""
    with db.write() as tx:
        return downloads.forget_downloads(tx, now_ms - KEEP_MS)
