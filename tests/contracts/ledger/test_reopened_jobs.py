"""Jobs that were done and take URLs again: the seen-set is kept, the queue goes on behind."""

from __future__ import annotations

import random

import pytest

from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.jobs import Job
from tests.contracts.ledger.case import LedgerCase
from tests.contracts.ledger.test_ledger import fill, new_job, page, queued


def work_off(ledger: Ledger, job: Job) -> list[str]:
    """Take all that is queued, as pages that are kept; return the URLs."""
    urls = []
    while taken := ledger.take(job.number, 0, 3):
        for one in taken:
            ledger.keep(job.number, one.position)
            urls.append(one.url)
    return urls


def test_a_job_that_may_reopen_keeps_what_it_met(case: LedgerCase) -> None:
    """It takes nothing while it is done, and new URLs only when it is open again."""
    ledger = case.start()
    job = new_job(ledger)
    fill(ledger, job, 7)
    assert work_off(ledger, job) == [page(number) for number in range(7)]
    ledger.finish_job(job.number, may_reopen=True)
    ledger.commit()
    ledger = case.start()
    assert ledger.has_met(job.number, page(3))
    assert not ledger.has_met(job.number, page(9))
    assert ledger.add_new(job.number, [page(9)]) == [False]
    assert not ledger.has_met(job.number, page(9))
    assert ledger.reopen_job(job.number)
    assert not ledger.reopen_job(job.number)
    assert ledger.add_new(job.number, [page(3), page(9)]) == [False, True]
    ledger.push([queued(page(9), job)])
    ledger.commit()
    ledger = case.start()
    assert ledger.queued(job.number) == ledger.waiting() == 1
    assert work_off(ledger, job) == [page(9)]
    row = ledger.job(job.number)
    assert row is not None
    assert (row.finished, row.kept) == (False, 8)


@pytest.mark.parametrize("leaves", ["nothing of it", "a URL in its queue"])
def test_a_job_that_ended_otherwise_does_not_reopen(case: LedgerCase, leaves: str) -> None:
    """What was given up is not known to be fetched: the unit begins again in the next round."""
    ledger = case.start()
    job = new_job(ledger)
    fill(ledger, job, 2)
    if leaves == "nothing of it":
        work_off(ledger, job)
    ledger.finish_job(job.number, may_reopen=leaves != "nothing of it")
    ledger.commit()
    ledger = case.start()
    assert not ledger.reopen_job(job.number)
    assert ledger.waiting() == 0
    ledger.drop_job(job.number)
    assert not ledger.reopen_job(job.number)


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_ends_and_kills_loses_no_url(case: LedgerCase, seed: int) -> None:
    """Beside a model: what was committed as waiting is taken, once, however often a job ends."""
    chance = random.Random(seed)
    ledger = case.start()
    jobs = [new_job(ledger, f"http://h{number}.example:80/") for number in range(3)]
    met: dict[int, set[str]] = {job.number: set() for job in jobs}
    waiting: dict[int, list[str]] = {job.number: [] for job in jobs}
    done: set[int] = set()
    saved = (met, waiting, done)

    def copy() -> tuple[dict[int, set[str]], dict[int, list[str]], set[int]]:
        return (
            {number: set(urls) for number, urls in met.items()},
            {number: list(urls) for number, urls in waiting.items()},
            set(done),
        )

    ledger.commit()
    saved = copy()
    for step in range(250):
        job = chance.choice(jobs)
        number = job.number
        match chance.choice(["push", "push", "take", "take", "end", "open", "commit", "kill"]):
            case "push":
                url = page(chance.randrange(60))
                is_new = number not in done and url not in met[number]
                assert ledger.add_new(number, [url]) == [is_new], step
                if is_new:
                    ledger.push([queued(url, job)])
                    met[number].add(url)
                    waiting[number].append(url)
            case "take":
                for one in ledger.take(number, 0, 2):
                    assert one.url == waiting[number].pop(0), step
                    ledger.keep(number, one.position)
            case "end" if not waiting[number] and number not in done:
                ledger.finish_job(number, may_reopen=True)
                done.add(number)
            case "open":
                assert ledger.reopen_job(number) == (number in done), step
                done.discard(number)
            case "commit":
                ledger.commit()
                saved = copy()
            case "kill":
                ledger = case.start()
                met, waiting, done = saved
                saved = copy()
        for number in met:
            assert ledger.queued(number) == len(waiting[number]), step
        assert ledger.waiting() == sum(map(len, waiting.values())), step
    for number, urls in met.items():
        assert all(ledger.has_met(number, url) for url in urls)
