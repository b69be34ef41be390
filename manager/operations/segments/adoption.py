"""Adopt files: give them this installation's id, and enter the segments that no row names.

For a database that was lost, or restored from an older backup, and files that are left. Invariants:
nothing is deleted; a segment is entered only where its bytes are those that its name says; an
entered segment is public only where its index, or the known rights, say so. Each segment is a
separate transaction, so an interrupted adoption begins again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final

from manager.db.archive import archive_withdrawals
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.identity import installation
from manager.db.logs import reports
from manager.db.segments.named_files import states_of_keys
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.identity.file_marks import (
    mark_emptied,
    marked_ids,
    missing_files,
    set_marks,
)
from manager.operations.identity.installation import MarkedFiles, installation_id
from manager.operations.segments.orphans import sweep_trash
from manager.operations.segments.segment_adoption import (
    Adoption,
    IdOf,
    NotEntered,
    ReportProgress,
    SegmentAdoption,
)
from manager.store.segments.trash import TrashEntry
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Adopted", "Adoption", "IdOf", "NotEntered", "ReportProgress", "adopt"]

NAMED: Final = 100
"""Examples of each kind that an answer has."""


@frozen
class Adopted:
    """The result of an adoption, or of its dry run.

    installation: the id of database and files now. id_from: whose id it was before: `database`,
    `files`, or empty where both had it. entered: names of segments; not_entered, missing: examples.
    """

    dry_run: bool
    installation: str
    id_from: str
    segments: int
    captures: int
    quarantined: int
    given_back: int
    new_agents: int
    new_hosts: int
    not_entered_count: int
    missing_count: int
    entered: list[str]
    not_entered: list[NotEntered]
    missing: list[str]


def adopt(asked: Adoption, actor: Actor, now_ms: int) -> Adopted:
    """Adopt the files of a manager; blocks for as long as reading them takes.

    Raises ConflictError (no one id to take), StoreFullError, BusyError: entered segments stay, call
    again.
    """
    db, files = asked.db, asked.files
    uuid, id_from = _chosen_id(db, files, asked.id_of)
    given_back = 0
    if not asked.dry_run:
        if id_from == "files":
            with db.write() as tx:
                installation.set_installation(tx, uuid)
        set_marks(files.locations(), uuid, now_ms)
        mark_emptied(db, files, uuid, now_ms)
        given_back = sum(sweep_trash(db, asked.reading, time.time(), actor).moved.values())
    tally = SegmentAdoption(asked, actor, now_ms)
    _enter_all(asked, tally)
    with db.read() as tx:
        keys = archive_withdrawals.keys_in_use(tx)
        logs = [path for path in reports.all_paths(tx) if path]
    missing = list(missing_files(files, keys, logs))
    done = Adopted(
        dry_run=asked.dry_run,
        installation=uuid,
        id_from=id_from,
        segments=tally.segments,
        captures=tally.captures,
        quarantined=tally.quarantined,
        given_back=given_back,
        new_agents=len(tally.new_agents),
        new_hosts=len(tally.new_hosts),
        not_entered_count=len(tally.not_entered),
        missing_count=len(missing),
        entered=sorted(tally.entered)[:NAMED],
        not_entered=sorted(tally.not_entered, key=lambda one: one.key)[:NAMED],
        missing=missing[:NAMED],
    )
    if not asked.dry_run:
        with db.write() as tx:
            note(
                tx,
                now_ms,
                actor,
                "archive.adopt",
                uuid,
                alert=True,
                id_from=id_from,
                segments=done.segments,
                captures=done.captures,
                given_back=given_back,
                not_entered=done.not_entered_count,
                missing=done.missing_count,
            )
    return done


def _enter_all(asked: Adoption, tally: SegmentAdoption) -> None:
    unnamed = list(_unnamed(asked))
    with ThreadPoolExecutor(asked.at_once, "adopt") as threads:
        entering = [threads.submit(tally.enter, key, entry) for key, entry in unnamed]
        try:
            for done, one in enumerate(as_completed(entering), start=1):
                one.result()
                asked.progress(done, len(unnamed))
        finally:
            threads.shutdown(cancel_futures=True)


def _chosen_id(db: Database, files: MarkedFiles, id_of: IdOf) -> tuple[str, str]:
    """Return the id that database and files are to have, and whose it is; empty: it was both's.

    A database that knows no agent takes the id of its files, for the agents know that; else the
    files take that of the database.
    """
    here, there = installation_id(db), marked_ids(files)
    if there == [here]:
        return here, ""
    with db.read() as tx:
        chosen = id_of or ("database" if agents.names(tx) else "files")
    if chosen == "files" and len(there) == 1 and there[0]:
        return there[0], "files"
    if id_of == "files":
        if not there:
            raise ConflictError("segments.files_without_id")
        found = [one or Message("segments.unreadable_id") for one in there]
        raise ConflictError("segments.files_with_several_ids", ids=found)
    return here, "database"


def _unnamed(asked: Adoption) -> Iterator[tuple[str, TrashEntry | None]]:
    """Yield the keys of segments that no row names, in place or in the trash."""
    reading = asked.reading
    keys = [key for key, _ in reading.store.listed()]
    trashed = {entry.key: entry for entry in reading.trash.entries() if entry.key}
    with asked.db.read() as tx:
        known = states_of_keys(tx, {*keys, *trashed})
    found: dict[str, TrashEntry | None] = dict.fromkeys(keys)
    for key, entry in trashed.items():
        found.setdefault(key, entry)
    for key in sorted(found):
        if key not in known:
            yield key, found[key]
