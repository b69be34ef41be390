"""The differences of the last seven days, one file a day, kept ready for nightly downloads.

`2026-11-22.jsonl` names every public segment that was entered on that day (UTC), a line of JSON
each, with its digests and where to get it. Today's file grows; no file names a segment that has
been withdrawn since.
Invariant: a file is whole or not there; what it names was public when it was written.
Source: seed 004, section 5.4.1, point 7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from manager.db.engine import Database
from manager.errors import NotFoundError
from manager.operations.archive.archive_files import FileFilter, SegmentRow, list_files
from manager.store.durable_files import write_whole

__all__ = ["daily_file", "daily_files", "keep_daily_files"]

DAYS: Final = 7  # besides today
ROWS_AT_ONCE: Final = 1000
DAY_MS: Final = 86_400_000
ENDING: Final = ".jsonl"
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def keep_daily_files(db: Database, folder: Path, now_ms: int) -> int:
    """Write the files of today and the seven days before, and remove older ones.

    Returns how many lines they have. Raises StoreFullError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    today = datetime.fromtimestamp(now_ms / 1000, UTC).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    kept, count = set[str](), 0
    for ago in range(DAYS + 1):
        day = today - timedelta(days=ago)
        from_ms = round(day.timestamp() * 1000)
        lines = [_line(row) for row in _made(db, from_ms, from_ms + DAY_MS)]
        name = f"{day:%Y-%m-%d}{ENDING}"
        write_whole(folder / name, iter(lines))
        kept.add(name)
        count += len(lines)
    for path in folder.glob(f"*{ENDING}"):
        if path.name not in kept:
            path.unlink(missing_ok=True)
    return count


def daily_files(folder: Path) -> list[str]:
    """Return the days that there are files of, newest first."""
    return sorted((path.stem for path in folder.glob(f"*{ENDING}")), reverse=True)


def daily_file(folder: Path, day: str) -> bytes:
    """Return the file of a day. Raises NotFoundError."""
    path = folder / f"{day}{ENDING}"
    if not _DAY.fullmatch(day) or not path.is_file():
        raise NotFoundError("archive.unknown_day", day=day[:20], days=DAYS)
    return path.read_bytes()


def _made(db: Database, from_ms: int, to_ms: int) -> Iterator[SegmentRow]:
    asked = FileFilter(made_from_ms=from_ms, made_to_ms=to_ms)
    after_id: int | None = 0
    while after_id is not None:
        page = list_files(db, asked, ROWS_AT_ONCE, after_id=after_id)
        yield from page.files
        after_id = page.next_id


def _line(row: SegmentRow) -> bytes:
    told = {
        "name": row.name,
        "location": f"/api/v1/segments/{row.name}",
        "size": row.size_bytes,
        "md5": row.md5,
        "sha1": row.sha1,
        "sha256": row.sha256,
        "captures": row.captures,
        "first_ms": row.first_ms,
        "last_ms": row.last_ms,
        "made_ms": row.made_ms,
    }
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"
