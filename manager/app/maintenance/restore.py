"""Restore a backup into an empty place, by this version or any older one's.

Invariant: no existing data is changed: the data directory, the shared folder and the database must
be empty. The restored installation has the schema of this version, is whole (digests, then
`check`), has the installation id of the backup (an object store bears it already), and is safe to
continue with (`manager.operations.health.restore_safety`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from manager.app.composition import layout_of, url_of
from manager.app.locks import is_locked_by_us
from manager.db import Database, Transaction
from manager.db.migrate import check_known, migrate_to
from manager.db.row_dumps import is_empty, load
from manager.operations.actor import Actor
from manager.operations.health.consistency_checks import check
from manager.operations.health.restore_safety import make_safe
from manager.operations.identity.file_marks import mark_emptied, set_marks
from manager.operations.identity.installation import MarkedFiles, installation_id
from manager.settings import SETTINGS_FILE, read_settings
from manager.store.backup_files import BackupReader, Manifest
from manager.store.segments.segment_store import DirectoryStore
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["Restored", "restore"]

OF_THE_DISK: Final = "lost+found"
"""A new file system has it, and no file of ours is in it."""


@frozen
class Restored:
    """Result of a restore. held_until_ms: no work is granted before. findings: of `prsm check`."""

    manifest: Manifest
    held_until_ms: int
    findings: list[str]


def restore(
    backup: BackupReader,
    data: Path,
    config: Path | None,
    actor: Actor,
    now_ms: Callable[[], int],
    down_since_ms: int | None = None,
) -> Restored:
    """Restore a backup into a data directory that is empty or missing.

    config: settings to go by instead of the backup's. down_since_ms: when the manager of the backup
    ended, now at the latest: permits from before are over the sooner. Raises FormatError,
    SettingError, StoreError, BusyError.
    """
    manifest = backup.manifest
    check_known(manifest.schema_version)
    if manifest.missing:
        raise FormatError(
            "identity.backup_incomplete",
            count=len(manifest.missing),
            files=manifest.missing[:3],
        )
    with ExitStack() as stack:
        stack.enter_context(_guard_empty(data))
        backup.verify()
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        stack.enter_context(is_locked_by_us(data / "prsm.lock"))
        _restore_own(backup, data, config)
        settings = read_settings(data)
        layout = layout_of(settings)
        if layout.kept != data.absolute():
            stack.enter_context(_guard_empty(layout.kept))
        with closing(Database(url_of(settings))) as db:
            with db.read() as tx:
                if not is_empty(tx):
                    raise FormatError("identity.restore_into_tables")
            layout.create()
            for entry in manifest.files:
                kind, _, path = entry.name.partition("/")
                if kind == "files":
                    backup.copy(entry, layout.kept / path)
            ended_ms = min(now_ms(), down_since_ms or now_ms())
            held_until_ms = ended_ms + manifest.longest_permit_ms
            with db.write() as tx:
                _load(tx, backup)
                make_safe(tx, actor, manifest.made_ms, held_until_ms, now_ms())
            files = MarkedFiles(layout, DirectoryStore(layout.segments, layout.access))
            set_marks(files.locations(), installation_id(db), now_ms())
            mark_emptied(db, files, installation_id(db), now_ms())  # a backup without captures
            findings = [str(one) for one in check(db, lambda path: (layout.kept / path).exists())]
        return Restored(manifest, held_until_ms, findings)


@contextmanager
def _guard_empty(folder: Path) -> Iterator[None]:
    """Refuse a folder that is not empty; where the block fails, it is so again."""
    if folder.exists() and (
        not folder.is_dir() or any(path.name != OF_THE_DISK for path in folder.iterdir())
    ):
        raise FormatError("identity.restore_into_files", folder=str(folder))
    try:
        yield
    except BaseException:
        _empty(folder)  # the next try finds it as this one did
        raise


def _empty(folder: Path) -> None:
    """Remove what a restore began to write."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name == OF_THE_DISK:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _restore_own(backup: BackupReader, data: Path, config: Path | None) -> None:
    """Put settings and keys into the data directory."""
    for entry in backup.manifest.files:
        kind, _, name = entry.name.partition("/")
        if kind == "keys":
            backup.copy(entry, data / "keys" / name)
        if kind == "settings":
            kept = name if config is None else f"{name}.of-backup"
            backup.copy(entry, data / kept)
    if config is not None:
        (data / SETTINGS_FILE).write_bytes(config.read_bytes())


def _load(tx: Transaction, backup: BackupReader) -> None:
    """Make the schema of the backup, load its rows, and bring both to this version."""
    migrate_to(tx, backup.manifest.schema_version)
    for name, rows in backup.manifest.tables.items():
        loaded = load(tx, name, backup.lines(f"tables/{name}.jsonl.gz"))
        if loaded != rows:
            raise FormatError("identity.backup_rows", table=name, found=loaded, expected=rows)
    migrate_to(tx, "head")
