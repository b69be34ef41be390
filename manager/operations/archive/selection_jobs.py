"""Selections as files: asked for, listed, removed. How they are made is in `selection_results`."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from manager.db.archive import selection_jobs
from manager.db.archive.selection_jobs import JobRow, OwnedJob
from manager.db.engine import Database
from manager.errors import ConflictError, GoneError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.archive.selection_files import SelectionSources
from manager.operations.people.clients import Client
from shared.errors import check_choice
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "FUNCTIONS",
    "STATES",
    "JobPage",
    "JobRow",
    "OwnedJob",
    "complete_job",
    "job_of",
    "jobs_of",
    "kept_at",
    "list_jobs",
    "remove_job",
    "result_path",
    "submit_job",
]

FUNCTIONS: Final = {"extract-zip": "zip", "extract-warc": "warc"}
STATES: Final = ("queued", "running", "complete", "failed", "gone")
OPEN_JOBS: Final = 20
MOST_ROWS: Final = 1000


@frozen
class JobPage:
    """Number of jobs, and a page of them, newest first."""

    count: int
    jobs: list[JobRow]


def submit_job(
    db: Database, client: Client, function: str, query: str, actor: Actor, now_ms: int
) -> JobRow:
    """Queue a selection; its query was checked. Raises FormatError, ConflictError."""
    check_choice("function", function, FUNCTIONS)
    token = secrets.token_urlsafe(18)
    with db.write() as tx:
        if selection_jobs.count_open(tx, client.id) >= OPEN_JOBS:
            raise ConflictError("archive.too_many_jobs", jobs=OPEN_JOBS, client=client.name)
        selection_jobs.add_job(tx, token, client.id, function, query, now_ms)
        note(tx, now_ms, actor, "job.submit", token[:8], function=function, query=query[:500])
        row = selection_jobs.job_by_token(tx, token)
    assert row is not None, "it was added"
    return row


def jobs_of(db: Database, client: Client, limit: int, offset: int) -> JobPage:
    """Return the jobs of a client."""
    with db.read() as tx:
        return JobPage(*selection_jobs.jobs_of(tx, client.id, limit, offset))


def job_of(db: Database, client: Client, token: str) -> JobRow:
    """Return a job of a client; raises NotFoundError, also for another's."""
    with db.read() as tx:
        row = selection_jobs.job_by_token(tx, token)
    if row is None or row.client_id != client.id:
        raise NotFoundError("archive.unknown_job_token", token=token[:60])
    return row


def complete_job(db: Database, job_id: int, client_id: int) -> JobRow | None:
    """Return a job whose result is there and given to a client, None for any other."""
    with db.read() as tx:
        row = selection_jobs.job_by_id(tx, job_id)
    if row is None or row.client_id != client_id or row.state != "complete":
        return None
    return row


def list_jobs(
    db: Database,
    *,
    client: str = "",
    state: str = "",
    before: int | None = None,
    limit: int = 100,
) -> list[OwnedJob]:
    """Return the jobs of all clients, or of one, newest first, before a number."""
    if state:
        check_choice("state", state, STATES)
    with db.read() as tx:
        return selection_jobs.all_jobs(
            tx, client=client, state=state, before=before, limit=max(1, min(limit, MOST_ROWS))
        )


def remove_job(db: Database, number: int, actor: Actor, now_ms: int) -> None:
    """Remove a job and its result. A job that failed or was removed already stays unchanged.

    The file goes with the next tidying. Raises NotFoundError.
    """
    with db.write() as tx:
        row = selection_jobs.job_by_id(tx, number)
        if row is None:
            raise NotFoundError("archive.unknown_job", job=number, see="archive")
        if row.state in ("failed", "gone"):
            return
        problem = Message("archive.job_removed_by", name=actor.name)
        selection_jobs.change_job(tx, number, state="gone", problem=problem, finished_ms=now_ms)
        note(tx, now_ms, actor, "job.remove", row.token[:8], state=row.state)


def result_path(making: SelectionSources, row: JobRow) -> Path:
    """Return the result of a job; raises GoneError, ConflictError where there is none."""
    if row.state == "gone":
        raise GoneError("archive.result_removed", job=row.token)
    if row.state != "complete":
        code = "archive.job_not_complete" if row.problem is None else "archive.job_failed"
        raise ConflictError(code, job=row.token, state=row.state, why=row.problem)
    return kept_at(making, row.id)


def kept_at(making: SelectionSources, job_id: int) -> Path:
    """Return where the result of a job lies, or will."""
    return making.layout.results / f"{job_id}.result"
