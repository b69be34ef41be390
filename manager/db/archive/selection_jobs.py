"""Selections that are made as files: their requests, progress and results."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from manager.db.tables import archive_jobs, clients, hosts, job_hosts
from manager.db.transaction import Transaction, chunks, newest_first
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "JobRow",
    "OwnedJob",
    "add_job",
    "all_jobs",
    "change_job",
    "count_open",
    "excluded_since",
    "finished_before",
    "is_running",
    "job_by_id",
    "job_by_token",
    "jobs_of",
    "jobs_with_host",
    "lose_results",
    "next_queued",
    "queue_again",
    "set_hosts",
]


@message_fields
@frozen
class JobRow:
    """A stored job. done, total: captures; total is an upper bound."""

    id: int
    token: str
    client_id: int
    function: str
    query: str
    state: str
    submitted_ms: int
    finished_ms: int | None
    done: int
    total: int
    problem: Message | None
    name: str
    size_bytes: int
    md5: str
    sha1: str
    sha256: str


@frozen
class OwnedJob(JobRow):
    """The same, with the name of its client."""

    client: str


def add_job(
    tx: Transaction, token: str, client_id: int, function: str, query: str, now_ms: int
) -> None:
    """Queue a job."""
    asked = {"token": token, "client_id": client_id, "function": function, "query": query}
    tx.insert(archive_jobs, [{**asked, "state": "queued", "submitted_ms": now_ms}])


def job_by_token(tx: Transaction, token: str) -> JobRow | None:
    """Return the job of this name."""
    return tx.row(JobRow, sa.select(archive_jobs).where(archive_jobs.c.token == token))


def jobs_of(tx: Transaction, client_id: int, limit: int, offset: int) -> tuple[int, list[JobRow]]:
    """Return how many jobs a client has, and some of them, newest first."""
    mine = archive_jobs.c.client_id == client_id
    query = sa.select(archive_jobs).where(mine).order_by(archive_jobs.c.id.desc())
    return tx.count(archive_jobs, mine), tx.rows(JobRow, query.limit(limit).offset(offset))


def job_by_id(tx: Transaction, job_id: int) -> JobRow | None:
    """Return the job of this number."""
    return tx.row(JobRow, sa.select(archive_jobs).where(archive_jobs.c.id == job_id))


def all_jobs(
    tx: Transaction, *, client: str, state: str, before: int | None, limit: int
) -> list[OwnedJob]:
    """Return jobs, newest first, before a number. client, state: "": any."""
    query = sa.select(archive_jobs, clients.c.name.label("client")).join(
        clients, clients.c.id == archive_jobs.c.client_id
    )
    wanted = (clients.c.name, client), (archive_jobs.c.state, state)
    return tx.rows(OwnedJob, newest_first(query, archive_jobs.c.id, limit, before, *wanted))


def is_running(tx: Transaction, job_id: int) -> bool:
    """Return whether a job is being made."""
    return tx.exists(archive_jobs.c.id == job_id, archive_jobs.c.state == "running")


def count_open(tx: Transaction, client_id: int) -> int:
    """Return how many jobs of a client wait or run."""
    is_open = archive_jobs.c.state.in_(("queued", "running"))
    return tx.count(archive_jobs, archive_jobs.c.client_id == client_id, is_open)


def next_queued(tx: Transaction) -> JobRow | None:
    """Return the job that waits longest."""
    waiting = sa.select(archive_jobs).where(archive_jobs.c.state == "queued")
    return tx.row(JobRow, waiting.order_by(archive_jobs.c.id).limit(1))


def change_job(tx: Transaction, job_id: int, **values: Any) -> None:
    """Store the progress or the result of a job."""
    tx.execute(archive_jobs.update().where(archive_jobs.c.id == job_id).values(**values))


def queue_again(tx: Transaction) -> int:
    """Requeue the jobs that were under way at a manager when it ended; return how many."""
    running = archive_jobs.c.state == "running"
    return tx.changed(archive_jobs.update().where(running).values(state="queued", done=0))


def lose_results(tx: Transaction, why: Message) -> None:
    """Record that all results are lost."""
    complete = archive_jobs.update().where(archive_jobs.c.state == "complete")
    tx.execute(complete.values(state="gone", problem=why))


def set_hosts(tx: Transaction, job_id: int, host_ids: Collection[int]) -> None:
    """Write down which hosts a result holds."""
    tx.execute(job_hosts.delete().where(job_hosts.c.job_id == job_id))
    for part in chunks(host_ids):
        tx.insert(job_hosts, [{"job_id": job_id, "host_id": host} for host in part])


def excluded_since(tx: Transaction, host_ids: Collection[int]) -> bool:
    """Return whether one of some hosts is excluded."""
    excluded = hosts.c.excluded_ms.is_not(None)
    return any(tx.exists(hosts.c.id.in_(part), excluded) for part in chunks(host_ids))


def jobs_with_host(tx: Transaction, host_id: int) -> list[int]:
    """Return the complete jobs whose result holds a host."""
    return tx.values(
        sa.select(archive_jobs.c.id)
        .join(job_hosts, job_hosts.c.job_id == archive_jobs.c.id)
        .where(job_hosts.c.host_id == host_id, archive_jobs.c.state == "complete")
    )


def finished_before(tx: Transaction, moment_ms: int) -> list[int]:
    """Return the complete jobs that were finished before a moment."""
    complete = sa.select(archive_jobs.c.id).where(archive_jobs.c.state == "complete")
    return tx.values(complete.where(archive_jobs.c.finished_ms < moment_ms))
