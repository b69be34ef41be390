"""Make the results of jobs: one after the other, whole or not at all.

Invariants: a result goes when a host of it is excluded, also where that happens while it is made; a
job that is removed while it is made leaves nothing. A manager that is killed begins the job again.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from dataclasses import dataclass, field
from typing import Final

from manager.db.archive import selection_jobs
from manager.db.archive.selection_jobs import JobRow
from manager.db.engine import Database
from manager.db.segments.named_files import FileState, states_of_results
from manager.errors import PrsmError
from manager.operations.actor import CLOCK, note
from manager.operations.archive.selection_files import FORMS, SelectionSources, WithdrawnError, make
from manager.operations.archive.selection_jobs import FUNCTIONS, kept_at
from manager.operations.archive.selections import HostFiles, Selection, total_of
from manager.store.durable_files import full_disk_said, move, open_new
from shared.messages import Message

__all__ = ["begin_again", "remove_old_results", "run_next_job"]

PROGRESS_S: Final = 2.0
_NUMBER: Final = re.compile(r"[0-9]{1,18}")


class _RemovedError(Exception):
    """The job was removed while it was made."""


def begin_again(db: Database) -> int:
    """Queue what ran when the manager ended; return how many. Only at the start."""
    with db.write() as tx:
        return selection_jobs.queue_again(tx)


def run_next_job(making: SelectionSources, read_query: object) -> bool:
    """Make the result of the job that waits longest; tell whether there was one. Blocks.

    read_query: makes a Selection of a job's query, as the web does.
    """
    assert callable(read_query)
    with making.db.write() as tx:
        row = selection_jobs.next_queued(tx)
        if row is None:
            return False
        selection_jobs.change_job(tx, row.id, state="running", done=0)
    try:
        asked = read_query(row.query)
        assert isinstance(asked, Selection)
        _make(making, row, asked)
    except _RemovedError:
        kept_at(making, row.id).unlink(missing_ok=True)
    except WithdrawnError:
        with making.db.write() as tx:
            selection_jobs.change_job(tx, row.id, state="queued", done=0)
    except (PrsmError, OSError) as error:
        kept_at(making, row.id).unlink(missing_ok=True)
        why = error.message if isinstance(error, PrsmError) else Message.of_text(str(error)[:500])
        with making.db.write() as tx:
            selection_jobs.change_job(
                tx, row.id, state="failed", problem=why, finished_ms=making.now_ms()
            )
    return True


@dataclass
class _JobProgress:
    """Progress of a selection; stored every two seconds."""

    db: Database
    job_id: int
    done: int = 0
    hosts: set[int] = field(default_factory=set)
    said_at: float = 0.0

    def of_host(self, host: HostFiles, captures: int) -> None:
        """Count the captures of a host, and record the progress."""
        self.done += captures
        self.hosts.update(host.ids)
        if time.monotonic() - self.said_at > PROGRESS_S:
            self.said_at = time.monotonic()
            with self.db.write() as tx:
                if not selection_jobs.is_running(tx, self.job_id):
                    raise _RemovedError
                selection_jobs.change_job(tx, self.job_id, done=self.done)


def _make(making: SelectionSources, row: JobRow, asked: Selection) -> None:
    progress = _JobProgress(making.db, row.id)
    _, total = total_of(making.db, asked)
    with making.db.write() as tx:
        selection_jobs.change_job(tx, row.id, total=total)
    form = FUNCTIONS[row.function]
    target = kept_at(making, row.id)
    part = target.with_suffix(".part")
    part.unlink(missing_ok=True)
    hashes = [hashlib.new(name, usedforsecurity=False) for name in ("md5", "sha1", "sha256")]
    size_bytes = 0
    try:
        with full_disk_said(part.parent), open_new(part) as file:
            for piece in make(making, asked, form, progress.of_host):
                file.write(piece)
                size_bytes += len(piece)
                for each in hashes:
                    each.update(piece)
            file.flush()
            os.fsync(file.fileno())
        making.layout.access.give(part)
        move(part, target)
    finally:
        part.unlink(missing_ok=True)
    md5, sha1, sha256 = (each.hexdigest() for each in hashes)
    with making.db.write() as tx:
        if not selection_jobs.is_running(tx, row.id):
            raise _RemovedError
        if selection_jobs.excluded_since(tx, progress.hosts):
            selection_jobs.change_job(tx, row.id, state="queued", done=0)
            return
        selection_jobs.set_hosts(tx, row.id, progress.hosts)
        selection_jobs.change_job(
            tx,
            row.id,
            state="complete",
            finished_ms=making.now_ms(),
            done=progress.done,
            total=progress.done,
            name=f"pages-{row.token}.{FORMS[form].suffix}",
            size_bytes=size_bytes,
            md5=md5,
            sha1=sha1,
            sha256=sha256,
        )


def remove_old_results(making: SelectionSources, keep_s: float) -> int:
    """Remove the results that are older than so long, and files of jobs that are gone.

    A file that no job names is left to `orphans`.
    """
    now_ms = making.now_ms()
    with making.db.write() as tx:
        old = selection_jobs.finished_before(tx, now_ms - round(keep_s * 1000))
        for number in old:
            selection_jobs.change_job(tx, number, state="gone")
        if old:
            note(tx, now_ms, CLOCK, "job.expire", "", jobs=len(old))
    there = {
        int(path.stem): path
        for path in making.layout.results.glob("*.result")
        if _NUMBER.fullmatch(path.stem)
    }
    with making.db.read() as tx:
        states = states_of_results(tx, there)
    for number, state in states.items():
        if state is FileState.ENDED:
            there[number].unlink(missing_ok=True)
    return len(old)
