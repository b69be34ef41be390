"""The trash of an agent: files that its ledger does not name, moved there by day.

A ledger that was lost, or is another's, names none of these files. Invariant: such files are
never deleted at once; a moved file keeps its bytes, and is deleted after days, a few at a time.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from shared.archive.segment import sync_directory
from shared.full_disk import NO_ROOM

__all__ = ["TRASH", "Trash"]

TRASH: Final = "trash"
DAY_S: Final = 86_400.0
COPY_BYTES: Final = 1 << 20
SHARE: Final = 0.05
"""How much of the trash is deleted at once, one file at least."""
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


class Trash:
    """The trash beside a ledger."""

    def __init__(self, folder: Path) -> None:
        """folder: the ledger's."""
        self.folder = folder / TRASH

    def take(self, path: Path) -> None:
        """Move a file to the trash of today; an empty one is deleted, one that is gone is fine."""
        with suppress(FileNotFoundError):
            if not path.stat().st_size:
                path.unlink()
                return
            day = self.folder / _day(datetime.datetime.now(datetime.UTC))
            day.mkdir(mode=0o700, parents=True, exist_ok=True)
            target, number = day / path.name, 1
            while target.exists():
                number += 1
                target = day / f"{path.name}.~{number}~"
            path.rename(target)
            sync_directory(day)

    def take_tail(self, path: Path, size_bytes: int) -> None:
        """Keep what a file holds behind its first bytes, before it is cut there.

        Without room nothing is kept: the agent must start on a full disk, too.
        """
        with suppress(FileNotFoundError):
            if path.stat().st_size <= size_bytes:
                return
            part = path.with_name(f"{path.name}.from-{size_bytes}")
            try:
                with path.open("rb") as source, part.open("wb") as target:
                    source.seek(size_bytes)
                    shutil.copyfileobj(source, target, COPY_BYTES)
                    target.flush()
                    os.fsync(target.fileno())
                self.take(part)
            except OSError as error:
                part.unlink(missing_ok=True)
                if error.errno not in NO_ROOM:
                    raise

    def files(self) -> Iterator[Path]:
        """Yield the files in the trash, the oldest days first."""
        with suppress(FileNotFoundError):
            for day in sorted(self.folder.iterdir()):
                if _DAY.fullmatch(day.name):
                    yield from sorted(day.iterdir())

    def empty(self, keep_s: float, now_s: float, *, at_once: bool = False) -> tuple[int, int]:
        """Delete some of the files older than `keep_s`; return (files, bytes).

        at_once: the disk is short: whatever its age, the oldest first, and as few.
        """
        before = _day(datetime.datetime.fromtimestamp(now_s - keep_s, datetime.UTC))
        files = list(self.files())
        over = [path for path in files if at_once or path.parent.name < before]
        gone = over[: max(1, int(len(files) * SHARE))]
        size_bytes = 0
        for path in gone:
            with suppress(FileNotFoundError):
                size_bytes += path.stat().st_size
                path.unlink()
            self._forget_day(path.parent)
        return len(gone), size_bytes

    def delete(self, path: Path) -> None:
        """Delete a file of the trash now."""
        path.unlink(missing_ok=True)
        self._forget_day(path.parent)

    def _forget_day(self, day: Path) -> None:
        with suppress(OSError):  # it is not empty
            day.rmdir()


def _day(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%d")
