"""Queues: a journal in front, blocks behind it, and what is done is deleted a slice at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from agent.adapters.ledger import SqliteLedger
from agent.adapters.ledger.database import Query
from agent.adapters.ledger.jobs.journal import BLOCK_URLS
from agent.adapters.ledger.jobs.queues import DELETED_BLOCKS
from agent.pipeline.ledger import QueuedUrl
from agent.pipeline.messages.jobs import Job
from tests.agent.adapters.installation import OPTIONS, TINY, open_ledger


def opened(ledger: SqliteLedger) -> Job:
    number = ledger.new_job_number()
    job = Job(number, f"http://h{number}.example:80/", "crawl", 1)
    ledger.open_job(job)
    return job


def push(ledger: SqliteLedger, job: Job, count: int, start: int = 0) -> None:
    ledger.push(
        QueuedUrl(0, f"{job.unit}{page}", job.number, 1, 0, job.unit)
        for page in range(start, start + count)
    )


def rows(ledger: SqliteLedger, table: str) -> int:
    return ledger.database.ask(Query[tuple[int]](f"SELECT count(*) FROM {table}"))[0][0]


def pages(ledger: SqliteLedger, job: Job, after: int = 0, limit: int = 10**6) -> list[int]:
    taken = ledger.take(job.number, after, limit)
    return [int(one.url.removeprefix(job.unit)) for one in taken]


def test_a_long_queue_lies_in_blocks(tmp_path: Path) -> None:
    """Behind the journal URLs become blocks, in order, and the journal of then is gone."""
    options = replace(OPTIONS, journal_entries=1000)
    ledger = open_ledger(tmp_path, options)
    job, other = opened(ledger), opened(ledger)
    for start in range(0, 3000, 500):
        push(ledger, job, 500, start)
        push(ledger, other, 1, start)
        ledger.commit()
    assert rows(ledger, "blocks") >= 2000 // BLOCK_URLS
    assert rows(ledger, "journal") <= 4
    assert pages(ledger, job) == list(range(3000))
    assert pages(ledger, job, 700, 600) == list(range(700, 1300))
    assert pages(ledger, other) == list(range(0, 3000, 500))
    ledger.abandon()
    ledger = open_ledger(tmp_path, options)
    assert pages(ledger, job) == list(range(3000))
    assert ledger.queued(job.number) == 3000
    ledger.close()


def test_no_commit_saves_very_many_jobs(tmp_path: Path) -> None:
    """However many jobs a journal speaks of, they are saved in shares while the next one grows."""
    ledger = open_ledger(tmp_path, replace(OPTIONS, journal_entries=3000))
    jobs = [opened(ledger) for _ in range(3000)]
    for job in jobs:
        push(ledger, job, 1)
    ledger.commit()
    saved = [rows(ledger, "blocks")]
    for _ in range(6):
        push(ledger, jobs[0], 500)
        ledger.commit()
        saved.append(rows(ledger, "blocks"))
    assert saved[0] == 0
    assert saved[-1] >= 3000
    steps = [after - before for before, after in pairwise(saved)]
    assert max(steps) <= 3000 // 6 * 5 // 4 + 10
    ledger.close()


def test_blocks_that_are_worked_off_are_deleted(tmp_path: Path) -> None:
    """A queue that is consumed as it grows does not leave anything on the disk."""
    ledger = open_ledger(tmp_path, replace(OPTIONS, journal_entries=200))
    job = opened(ledger)
    push(ledger, job, 10)
    for start in range(10, 3000, 10):
        for one in ledger.take(job.number, 0, 10):
            ledger.remove(job.number, one.position)
        push(ledger, job, 10, start)
        ledger.commit()
    assert ledger.queued(job.number) == 10
    assert rows(ledger, "blocks") <= 2
    assert rows(ledger, "journal") <= 50
    ledger.close()


def test_ends_out_of_order_are_remembered(tmp_path: Path) -> None:
    """A URL that is gone from the middle stays gone, over saves and restarts."""
    ledger = open_ledger(tmp_path, TINY)
    job = opened(ledger)
    push(ledger, job, 20)
    ledger.commit()
    for position in range(2, 20, 2):
        ledger.remove(job.number, position)
        ledger.commit()
    left = [0, *range(2, 20, 2), 19]
    assert pages(ledger, job) == left
    ledger.abandon()
    ledger = open_ledger(tmp_path, TINY)
    assert pages(ledger, job) == left
    assert ledger.queued(job.number) == len(left)
    ledger.close()


def test_what_is_done_is_deleted_in_slices(tmp_path: Path) -> None:
    """A commit deletes at most one slice, over restarts too, and never of a job that lives."""
    options = replace(OPTIONS, journal_entries=1)
    ledger = open_ledger(tmp_path, options)
    done, dropped, alive = (opened(ledger) for _ in range(3))
    urls = DELETED_BLOCKS * BLOCK_URLS
    for job in (done, dropped, alive):
        push(ledger, job, urls)
    for _ in range(2):
        ledger.commit()
        push(ledger, alive, 1, urls)
    ledger.commit()
    assert rows(ledger, "blocks") >= 3 * DELETED_BLOCKS
    before = rows(ledger, "blocks")
    ledger.finish_job(done.number)
    ledger.drop_job(dropped.number)
    ledger.commit()
    assert rows(ledger, "blocks") == before - DELETED_BLOCKS
    ledger.abandon()
    ledger = open_ledger(tmp_path, options)
    for _ in range(4):
        ledger.commit()
    assert rows(ledger, "blocks") == before - 2 * DELETED_BLOCKS
    assert rows(ledger, "garbage") == 0
    assert ledger.queued(alive.number) == urls + 2
    assert len(ledger.take(alive.number, 0, 2 * urls)) == urls + 2
    ledger.close()


def test_many_small_jobs_are_let_go_of_together(tmp_path: Path) -> None:
    """A round of small jobs that ends leaves nothing after a few commits."""
    ledger = open_ledger(tmp_path, TINY)
    jobs = [opened(ledger) for _ in range(300)]
    for job in jobs:
        push(ledger, job, 2)
        ledger.commit()
    for job in jobs:
        ledger.finish_job(job.number)
    for _ in range(8):
        ledger.commit()
    assert rows(ledger, "blocks") == rows(ledger, "garbage") == 0
    ledger.close()


def test_any_text_goes_through_a_queue(tmp_path: Path) -> None:
    """What no URL holds cannot break a queue's lines."""
    ledger = open_ledger(tmp_path, TINY)
    job = opened(ledger)
    ledger.push(
        QueuedUrl(0, url, job.number, 3, 2, referer, 1)
        for url, referer in (
            ("http://a.example/ü\ud800 x", None),
            ("http://a.example/\tb\n", "http://r.example/\n\t"),
            ("http://a.example/c", ""),
        )
    )
    ledger.commit()
    ledger.abandon()
    ledger = open_ledger(tmp_path, TINY)
    assert [(one.url, one.referer) for one in ledger.take(job.number, 0, 9)] == [
        ("http://a.example/ü\ud800 x", None),
        ("http://a.example/b", "http://r.example/"),
        ("http://a.example/c", ""),
    ]
    assert {(one.depth, one.redirects, one.attempts) for one in ledger.take(job.number, 0, 9)} == {
        (3, 2, 1)
    }
    ledger.close()


def test_the_cookies_of_a_chain_go_through_a_queue(tmp_path: Path) -> None:
    """With a referer or without one, over further attempts and a restart."""
    ledger = open_ledger(tmp_path, TINY)
    job = opened(ledger)
    chain = '[["5f"],[["a","1 \\t","a.example",true,"/",false]]]'
    urls = [
        QueuedUrl(0, f"http://a.example/{number}", job.number, 1, 1, referer, 0, chain=text)
        for number, (referer, text) in enumerate(
            [(None, chain), ("http://r.example/", chain), (None, ""), ("http://r.example/", "")]
        )
    ]
    ledger.push(urls)
    first = ledger.take(job.number, 0, 1)[0]
    ledger.retry(job.number, first.position, 1, 5)
    ledger.commit()
    ledger.abandon()
    ledger = open_ledger(tmp_path, TINY)
    found = {one.url: (one.referer, one.chain) for one in ledger.take(job.number, 0, 9)}
    assert found == {one.url: (one.referer, one.chain) for one in urls}
    ledger.close()


def test_the_queue_of_a_probe_that_is_done_stays(tmp_path: Path) -> None:
    """Over restarts, in no count until its job is opened again, and with its seen-set."""
    ledger = open_ledger(tmp_path, TINY)
    job, other = opened(ledger), opened(ledger)
    first = [f"{job.unit}{page}" for page in range(700)]
    assert all(ledger.add_new(job.number, first))
    push(ledger, job, 700)
    push(ledger, other, 1)
    for one in ledger.take(job.number, 0, 50):
        ledger.keep(job.number, one.position)
    ledger.commit()
    ledger.finish_job(job.number, keeps_queue=True)
    assert ledger.may_reopen(job.number)
    assert (ledger.queued(job.number), ledger.waiting()) == (0, 1)
    assert pages(ledger, job) == []
    push(ledger, job, 1, 900)
    ledger.commit()
    for _ in range(3):
        ledger.abandon()
        ledger = open_ledger(tmp_path, TINY)
        push(ledger, other, 40)
        ledger.commit()
    assert ledger.waiting() == 121
    assert ledger.reopen_job(job.number)
    assert not ledger.may_reopen(job.number)
    assert (ledger.queued(job.number), ledger.waiting()) == (650, 771)
    push(ledger, job, 10, 700)
    assert ledger.add_new(job.number, [*first[:2], "http://h1.example/new"]) == [False, False, True]
    ledger.commit()
    ledger.abandon()
    ledger = open_ledger(tmp_path, TINY)
    assert pages(ledger, job) == list(range(50, 710))
    row = ledger.job(job.number)
    assert row is not None
    assert (row.kept, row.finished) == (50, False)
    ledger.close()


def test_a_kept_queue_goes_with_its_job(tmp_path: Path) -> None:
    """When the next round begins nothing of it is left behind."""
    ledger = open_ledger(tmp_path, TINY)
    job = opened(ledger)
    push(ledger, job, 3 * BLOCK_URLS)
    ledger.finish_job(job.number, keeps_queue=True)
    ledger.commit()
    assert rows(ledger, "blocks") >= 3
    ledger.drop_job(job.number)
    for _ in range(4):
        ledger.commit()
    assert (rows(ledger, "blocks"), rows(ledger, "jobs"), ledger.waiting()) == (0, 0, 0)
    ledger.close()


def test_the_version_before_drops_a_kept_queue(tmp_path: Path) -> None:
    """To it the job is done, and its URLs wait in no count (a release may be taken back)."""
    ledger = open_ledger(tmp_path, TINY)
    job = opened(ledger)
    push(ledger, job, 5)
    ledger.finish_job(job.number, keeps_queue=True)
    ledger.commit()
    finished = ledger.database.ask(Query[tuple[int]]("SELECT finished FROM jobs"))[0][0]
    assert finished not in (0, 2), "the values that it reads as `takes URLs, now or again`"
    ledger.close()
