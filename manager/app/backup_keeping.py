"""Keep the newest backups of a folder, and remove those before them.

Invariant: what is removed is a backup by its own manifest; other files are left alone, and so is
one that was cut off, which may be the only thing that is left of something.
"""

from __future__ import annotations

from pathlib import Path

from manager.store import StoreError
from manager.store.backup_files import open_backup
from shared.errors import FormatError

__all__ = ["remove_older"]


def remove_older(newest: Path, keep: int) -> list[Path]:
    """Remove backups (tars) beside one that was just made; return which, the newest first.

    keep: how many stay, that one too. Raises StoreError where one cannot be removed.
    """
    others = []
    for path in newest.parent.glob("*.tar"):
        made_ms = None if path.name == newest.name else _made_ms(path)
        if made_ms is not None:
            others.append((made_ms, path))
    removed = [path for _, path in sorted(others, reverse=True)[keep - 1 :]]
    for path in removed:
        try:
            path.unlink()
        except OSError as error:
            raise StoreError(
                f"--keep {keep}: {path} cannot be removed ({error.strerror}); the new backup "
                f"{newest} is whole"
            ) from error
    return removed


def _made_ms(path: Path) -> int | None:
    """Return when a backup was made; None: it is none."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        backup = open_backup(path)
    except (FormatError, OSError):
        return None
    backup.close()
    return backup.manifest.made_ms
