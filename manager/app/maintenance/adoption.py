"""Adopt files while no manager serves: for a database that was lost, or restored from a backup.

Invariant: no manager serves the directory, the database or the files meanwhile. A dry run changes
nothing; it treats a missing database as an empty one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from manager.app.archive_keeper import Readers, open_archive, store_of
from manager.app.composition import layout_of, open_database, url_of
from manager.app.leadership import Identity
from manager.app.locks import is_locked_by_us
from manager.db import Database
from manager.db.connections import sqlite_file
from manager.db.migrate import check_current, migrate, schema_version
from manager.intake.workers.workers import Workers
from manager.operations.actor import Actor
from manager.operations.identity.file_lease import FileLease
from manager.operations.identity.installation import MarkedFiles
from manager.operations.segments.adoption import Adopted, IdOf, ReportProgress, adopt
from manager.settings import Settings
from manager.store import Spool

__all__ = ["adopt_files"]


def adopt_files(
    settings: Settings,
    actor: Actor,
    now_ms: Callable[[], int],
    *,
    dry_run: bool = False,
    trusted: bool = False,
    id_of: IdOf = "",
    progress: ReportProgress = lambda _done, _of: None,
) -> Adopted:
    """Adopt the files of a data directory that no manager serves.

    progress: called with the number of finished segments, and of all.
    Raises SettingError, StoreError (a manager serves it, or uses the files), BusyError.
    """
    layout = layout_of(settings)
    layout.create()
    files = MarkedFiles(layout, store_of(settings.archive, layout))
    identity = Identity()
    with ExitStack() as stack:
        stack.enter_context(is_locked_by_us(layout.lock))
        db = stack.enter_context(_opened(settings, files, dry_run=dry_run))
        lease = FileLease(db, files, identity.name, f"prsm archive adopt, {identity.name}", now_ms)
        if not dry_run:
            lease.claim()
            stack.callback(lease.release)
        workers = Workers(settings.archive.workers)
        stack.callback(workers.close)
        spool = Spool(layout.spool)
        archive = open_archive(
            settings.archive,
            db,
            layout,
            files.store,
            spool,
            Readers.of(workers),
            now_ms,
            lease.check,
        )
        asked = replace(
            archive.adoption(),
            dry_run=dry_run,
            trusted=trusted,
            id_of=id_of,
            at_once=settings.archive.workers,
            progress=progress,
        )
        return adopt(asked, actor, now_ms())


@contextmanager
def _opened(settings: Settings, files: MarkedFiles, *, dry_run: bool) -> Iterator[Database]:
    """Open the database, and lock it; a dry run leaves one without tables unchanged."""
    with ExitStack() as stack:
        path = sqlite_file(url_of(settings))
        is_missing = path is not None and not (path.exists() and path.stat().st_size)
        if dry_run and is_missing:
            yield stack.enter_context(_empty())
            return
        db = open_database(settings, files, stack, may_be_new=True)
        if not dry_run:
            migrate(db)
        elif not schema_version(db):
            db = stack.enter_context(_empty())
        else:
            check_current(db)
        yield db


@contextmanager
def _empty() -> Iterator[Database]:
    with (
        tempfile.TemporaryDirectory(prefix="prsm-adopt-") as folder,
        closing(Database(f"sqlite:///{Path(folder) / 'prsm.sqlite'}")) as db,
    ):
        migrate(db)
        yield db
