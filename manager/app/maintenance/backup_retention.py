"""Keep the newest backups of a folder, and remove those before them.

Invariant: what is removed is a backup of the same installation by its own manifest; other files are
left alone, and so is one that was cut off, which may be the only thing that is left of something.
"""

from __future__ import annotations

from pathlib import Path

from manager.store import StoreError
from manager.store.backup_files import Manifest, open_backup
from shared.errors import FormatError

__all__ = ["remove_older"]


def remove_older(newest: Path, keep: int) -> list[Path]:
    """Remove backups (tars) beside one that was just made; return which, the newest first.

    keep: how many stay, that one too. Raises StoreError where one cannot be removed.
    """
    made = _manifest(newest)
    others = []
    for path in newest.parent.glob("*.tar"):
        manifest = None if path.name == newest.name else _manifest(path)
        if manifest and made and manifest.installation == made.installation:
            others.append((manifest.made_ms, path))
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


def _manifest(path: Path) -> Manifest | None:
    """Return what a backup holds; None: it is none."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        backup = open_backup(path)
    except (FormatError, OSError):
        return None
    backup.close()
    return backup.manifest
