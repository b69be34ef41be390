"""Selections as files: asked for, made one after the other, fetched with ranges, then removed.

Invariants: a result is there whole or not at all; it goes when a host of it is excluded, also where
that happens while it is made. A manager that is killed begins the job again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from manager.db import archive_jobs
from manager.db.archive_jobs import JobRow
from manager.db.engine import Database
from manager.errors import ConflictError, GoneError, NotFoundError, PrsmError
from manager.operations.actor import CLOCK, Actor, note
from manager.operations.archive_making import FORMS, Making, make
from manager.operations.archive_selecting import HostFiles, Selection, total_of
from manager.operations.clients import Client
from manager.store.durable import full_disk_said, move, open_new
from shared.errors import FormatError

__all__ = [
    "FUNCTIONS",
    "JobPage",
    "JobRow",
    "begin_again",
    "job_of",
    "jobs_of",
    "remove_old_results",
    "result_path",
    "run_next_job",
    "submit_job",
]

FUNCTIONS: Final = {"extract-zip": "zip", "extract-warc": "warc"}
OPEN_JOBS: Final = 20
PROGRESS_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class JobPage:
    """How many jobs there are, and some of them, newest first."""

    count: int
    jobs: list[JobRow]


def submit_job(
    db: Database, client: Client, function: str, query: str, actor: Actor, now_ms: int
) -> JobRow:
    """Queue a selection; its query was checked. Raises FormatError, ConflictError."""
    if function not in FUNCTIONS:
        raise FormatError(f"function {function[:40]!a}: must be one of {', '.join(FUNCTIONS)}")
    token = secrets.token_urlsafe(18)
    with db.write() as tx:
        if archive_jobs.count_open(tx, client.id) >= OPEN_JOBS:
            raise ConflictError(
                f"{OPEN_JOBS} jobs of {client.name} wait already; wait until one is complete"
            )
        archive_jobs.add_job(tx, token, client.id, function, query, now_ms)
        note(tx, now_ms, actor, "job.submit", token[:8], function=function, query=query[:500])
        row = archive_jobs.job_by_token(tx, token)
    assert row is not None, "it was added"
    return row


def jobs_of(db: Database, client: Client, limit: int, offset: int) -> JobPage:
    """Return the jobs of a client."""
    with db.read() as tx:
        return JobPage(*archive_jobs.jobs_of(tx, client.id, limit, offset))


def job_of(db: Database, client: Client, token: str) -> JobRow:
    """Return a job of a client; raises NotFoundError, also for another's."""
    with db.read() as tx:
        row = archive_jobs.job_by_token(tx, token)
    if row is None or row.client_id != client.id:
        raise NotFoundError(f"job {token[:60]!a}: there is none of yours by this name")
    return row


def result_path(making: Making, row: JobRow) -> Path:
    """Return the result of a job; raises GoneError, ConflictError where there is none."""
    if row.state == "gone":
        raise GoneError(f"job {row.token}: its result was removed; submit it again")
    if row.state != "complete":
        raise ConflictError(f"job {row.token}: is {row.state}, not complete; {row.problem}")
    return _path(making, row.id)


def begin_again(db: Database) -> int:
    """Queue what ran when the manager ended; return how many. Only at the start."""
    with db.write() as tx:
        return archive_jobs.queue_again(tx)


def run_next_job(making: Making, read_query: object) -> bool:
    """Make the result of the job that waits longest; tell whether there was one. Blocks.

    read_query: makes a Selection of a job's query, as the web does.
    """
    assert callable(read_query)
    with making.db.write() as tx:
        row = archive_jobs.next_queued(tx)
        if row is None:
            return False
        archive_jobs.change_job(tx, row.id, state="running", done=0)
    try:
        asked = read_query(row.query)
        assert isinstance(asked, Selection)
        _make(making, row, asked)
    except (PrsmError, OSError) as error:
        _path(making, row.id).unlink(missing_ok=True)
        with making.db.write() as tx:
            archive_jobs.change_job(
                tx, row.id, state="failed", problem=str(error)[:500], finished_ms=making.now_ms()
            )
    return True


@dataclass
class _Progress:
    """What was made so far; written down every two seconds."""

    db: Database
    job_id: int
    done: int = 0
    hosts: set[int] = field(default_factory=set)
    said_at: float = 0.0

    def of_host(self, host: HostFiles, captures: int) -> None:
        self.done += captures
        self.hosts.update(host.ids)
        if time.monotonic() - self.said_at > PROGRESS_S:
            self.said_at = time.monotonic()
            with self.db.write() as tx:
                archive_jobs.change_job(tx, self.job_id, done=self.done)


def _make(making: Making, row: JobRow, asked: Selection) -> None:
    progress = _Progress(making.db, row.id)
    _, total = total_of(making.db, asked)
    with making.db.write() as tx:
        archive_jobs.change_job(tx, row.id, total=total)
    form = FUNCTIONS[row.function]
    target = _path(making, row.id)
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
        move(part, target)
    finally:
        part.unlink(missing_ok=True)
    md5, sha1, sha256 = (each.hexdigest() for each in hashes)
    with making.db.write() as tx:
        if archive_jobs.excluded_since(tx, progress.hosts):
            archive_jobs.change_job(tx, row.id, state="queued", done=0)
            return
        archive_jobs.set_hosts(tx, row.id, progress.hosts)
        archive_jobs.change_job(
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


def remove_old_results(making: Making, keep_s: float) -> int:
    """Remove the results that are older than so long, and files of jobs that are gone."""
    now_ms = making.now_ms()
    with making.db.write() as tx:
        old = archive_jobs.finished_before(tx, now_ms - round(keep_s * 1000))
        for number in old:
            archive_jobs.change_job(tx, number, state="gone")
        if old:
            note(tx, now_ms, CLOCK, "job.expire", "", jobs=len(old))
        wanted = archive_jobs.not_ended(tx)
    for path in making.layout.results.glob("*.result"):
        if int(path.stem) not in wanted:
            path.unlink(missing_ok=True)
    return len(old)


def _path(making: Making, job_id: int) -> Path:
    return making.layout.results / f"{job_id}.result"
