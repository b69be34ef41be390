"""Make a backup of a manager, which may run, and remove older ones.

A backup is the tables in one state, the settings, the keys of TLS, and the files that cannot be
made again. Invariants: files are copied after the tables were read, so what a row names is there,
or was removed since; then the tables are read again. Lists, the files of days, results and parts of
uploads are left out: they are made, or sent, again. Only backups of the same installation by their
own manifest are removed; other files are left alone, and so is a backup that was cut off, which may
be the only thing that is left of something.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing
from importlib.metadata import version
from pathlib import Path
from typing import Final

from manager.app.composition import layout_of, url_of
from manager.db import Database
from manager.db.migrate import check_current, schema_version
from manager.db.row_dumps import dump, table_names
from manager.operations.actor import Actor, note_alone
from manager.operations.health.restore_safety import files_in_use, longest_permit_ms
from manager.operations.identity.installation import installation_id
from manager.operations.policy import Policy
from manager.settings import SETTINGS_FILE, Settings
from manager.store import StoreError
from manager.store.backup_files import (
    FORMAT,
    BackupFile,
    BackupWriter,
    Manifest,
    new_backup,
    open_backup,
    write_lines,
)
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["make_backup", "remove_older"]

TRIES: Final = 3
RECORDS: Final = ("logs", "transfers", "releases")
ARCHIVE: Final = ("archive/segments", "archive/index", "incoming")


@frozen
class _Tables:
    """Rows read in one transaction. needed: files that rows name, as names of the backup."""

    rows: dict[str, int]
    longest_permit_ms: int
    needed: set[str]


def make_backup(
    settings: Settings,
    config: Path,
    target: Path,
    actor: Actor,
    now_ms: Callable[[], int],
    *,
    archive: bool = True,
) -> Manifest:
    """Write a backup to a folder, or to a tar where the name ends so; return its manifest.

    config: the file of the settings, which may be missing. archive: with the captures, unless they
    are in an object store. Raises FormatError, SettingError, StoreError, BusyError.
    """
    layout, policy = layout_of(settings), Policy.of(settings)
    with ExitStack() as stack:
        db = stack.enter_context(closing(Database(url_of(settings))))
        db.examine(0)  # a backup of a damaged file would lack rows without notice
        check_current(db)
        made_ms = now_ms()
        writer = new_backup(target)
        unfinished = stack.enter_context(ExitStack())
        unfinished.callback(writer.give_up)
        work = Path(tempfile.mkdtemp(prefix=".prsm-backup-", dir=target.parent))
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        folders = RECORDS + (ARCHIVE if archive and not settings.archive.store else ())
        copied: dict[str, BackupFile] = {}
        for attempt in range(TRIES):
            folder = work / str(attempt)
            tables = _read_tables(db, folder, policy)
            copied |= _copy_files(layout.kept, folders, writer, copied)
            starts = tuple(f"files/{folder}/" for folder in folders)
            missing = [name for name in tables.needed - copied.keys() if name.startswith(starts)]
            if not missing:
                break
        entries = [
            writer.add(f"tables/{name}.jsonl.gz", folder / f"{name}.jsonl.gz")
            for name in tables.rows
        ]
        entries += [writer.add(name, path) for name, path in _own_files(settings, config)]
        manifest = Manifest(
            format=FORMAT,
            made_ms=made_ms,
            version=version("prsm"),
            schema_version=schema_version(db),
            database="sqlite" if db.is_sqlite else "postgresql",
            tables=tables.rows,
            longest_permit_ms=tables.longest_permit_ms,
            files=[*entries, *copied.values()],
            left_out=[name for name in RECORDS + ARCHIVE if name not in folders],
            missing=sorted(missing),
            installation=installation_id(db),
        )
        writer.finish(manifest)
        action = "manager.backup-incomplete" if missing else "manager.backup"
        note_alone(db, now_ms(), actor, action, target.name, files=len(manifest.files))
        unfinished.pop_all()
    return manifest


def _read_tables(db: Database, folder: Path, policy: Policy) -> _Tables:
    folder.mkdir()
    rows: dict[str, int] = {}
    with db.read() as tx:
        for name in table_names():
            rows[name] = write_lines(folder / f"{name}.jsonl.gz", dump(tx, name)) - 1
        needed = {f"files/{path}" for path in files_in_use(tx)}
        return _Tables(rows, longest_permit_ms(tx, policy), needed)


def _copy_files(
    kept: Path, folders: Collection[str], writer: BackupWriter, before: Collection[str]
) -> dict[str, BackupFile]:
    """Add the files of some folders that were not added before."""
    copied: dict[str, BackupFile] = {}
    for path in _whole_files(kept, folders):
        name = f"files/{path.relative_to(kept).as_posix()}"
        if name in before:
            continue
        try:
            copied[name] = writer.add(name, path)
        except FileNotFoundError:
            continue  # removed meanwhile; where a row needs it, the tables are read again
    return copied


def _whole_files(kept: Path, folders: Collection[str]) -> Iterator[Path]:
    """Yield the completely written files; only NFS and people begin a name with a dot."""
    for folder in folders:
        for path in sorted((kept / folder).rglob("*")):
            ours = not any(part.startswith(".") for part in path.relative_to(kept).parts)
            if ours and path.is_file() and not path.is_symlink() and path.suffix != ".part":
                yield path


def _own_files(settings: Settings, config: Path) -> Iterator[tuple[str, Path]]:
    if config.is_file():
        yield f"settings/{SETTINGS_FILE}", config
    for name in ("tls_certificate", "tls_key"):
        path = str(getattr(settings.server, name))
        if path:
            yield f"keys/{name}.pem", Path(path)


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
                "identity.backup_not_removed",
                keep=keep,
                path=str(path),
                problem=error.strerror,
                newest=str(newest),
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
