"""Seen-sets and queues of jobs that are done are deleted a slice at a time."""

from __future__ import annotations

from pathlib import Path

from agent.adapters.ledger import SqliteLedger
from agent.adapters.ledger.queues import SLICE_ROWS
from agent.pipeline.messages import Job
from agent.pipeline.ports import QueuedUrl
from tests.agent.adapters.installation import open_ledger


def filled(ledger: SqliteLedger, count: int) -> Job:
    number = ledger.new_job_number()
    job = Job(number, f"http://h{number}.example:80/", "crawl", 1)
    ledger.open_job(job)
    urls = [f"{job.unit}{page}" for page in range(count)]
    ledger.add_new(number, urls)
    ledger.push(QueuedUrl(0, url, number, 0, 0, None) for url in urls)
    return job


def rows(ledger: SqliteLedger, table: str) -> int:
    return int(str(ledger.database.ask(f"SELECT count(*) FROM {table}")[0][0]))


def test_what_is_done_is_deleted_in_slices(tmp_path: Path) -> None:
    """A commit deletes at most one slice, over restarts too, and never of a job that lives."""
    ledger = open_ledger(tmp_path)
    done, dropped, alive = (filled(ledger, SLICE_ROWS) for _ in range(3))
    ledger.commit()
    ledger.finish_job(done.number)
    ledger.drop_job(dropped.number)
    ledger.commit()
    assert rows(ledger, "queue") + rows(ledger, "seen") == 5 * SLICE_ROWS
    ledger.abandon()
    ledger = open_ledger(tmp_path)
    for _ in range(8):
        ledger.commit()
    assert rows(ledger, "queue") == rows(ledger, "seen") == SLICE_ROWS
    assert rows(ledger, "garbage") == 0
    assert ledger.queued(alive.number) == SLICE_ROWS
    assert len(ledger.take(alive.number, 0, 2 * SLICE_ROWS)) == SLICE_ROWS
    ledger.close()


def test_hashes_are_keyed_by_the_installation(tmp_path: Path) -> None:
    """Nobody outside can choose URLs that collide: two installations hash differently."""
    keys = set()
    for name in ("one", "two"):
        ledger = open_ledger(tmp_path / name)
        job = Job(1, "http://a.example:80/", "crawl", 1)
        ledger.open_job(job)
        ledger.add_new(1, ["http://a.example/"])
        keys.add(ledger.database.ask("SELECT key FROM seen")[0][0])
        ledger.close()
    assert len(keys) == 2
