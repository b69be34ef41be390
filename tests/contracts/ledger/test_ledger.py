"""What every ledger does: queues in order, exact sets, counters, nothing between two commits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.pipeline.ledger import AddressBackoff, Ledger, OpenJob, QueuedUrl
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.requests import FetchAnswer
from shared.archive.capture import Capture
from shared.archive.encode import EncodedCapture, encode_capture
from shared.archive.errors import DiskFullError
from tests.agent.modules.answers import due_of, ended
from tests.contracts.ledger.case import LedgerCase

UNIT = "http://www.example.jp:80/"
HOST = UNIT


def new_job(ledger: Ledger, unit: str = UNIT, start_pages: tuple[str, ...] = ()) -> Job:
    pages = tuple((url, None) for url in start_pages)
    job = Job(ledger.new_job_number(), unit, "crawl", 3, 0, 500, ("/x/",), pages)
    ledger.open_job(job)
    return job


def queued(url: str, job: Job, depth: int = 1) -> QueuedUrl:
    return QueuedUrl(0, url, job.number, depth, 0, "http://from.example/")


def page(number: int) -> str:
    return f"http://www.example.jp/{number}"


def fill(ledger: Ledger, job: Job, count: int) -> list[QueuedUrl]:
    urls = [page(number) for number in range(count)]
    assert ledger.add_new(job.number, urls) == [True] * count
    ledger.push(queued(url, job) for url in urls)
    return ledger.take(job.number, 0, count)


def capture_of(url: str) -> EncodedCapture:
    header = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    return encode_capture(Capture(url, 1_700_000_000_000, b"", header, b"<p>"))


def request_of(url: str, job: Job) -> FetchAnswer:
    return ended(due_of(url, HOST, job=job.number, round_number=3))


def test_a_job_is_remembered_as_it_was_opened(case: LedgerCase) -> None:
    """A job comes back from the disk with its order, unplaced, with empty counters."""
    ledger = case.start()
    job = new_job(ledger, start_pages=(page(1),))
    ledger.commit()
    ledger = case.start()
    (row,) = ledger.each_job()
    assert row == ledger.job(job.number)
    assert row.job == job
    assert (row.address, row.pages, row.kept, row.response_bytes) == ("", 0, 0, 0)
    assert not row.finished


def test_numbers_are_never_given_twice(case: LedgerCase) -> None:
    """A committed number is not given again, not even after its job was dropped."""
    ledger = case.start()
    first = new_job(ledger)
    ledger.drop_job(first.number)
    ledger.commit()
    ledger = case.start()
    assert ledger.new_job_number() > first.number
    assert list(ledger.each_job()) == []


def test_opening_again_replaces_the_order_only(case: LedgerCase) -> None:
    """A changed order of a known job keeps its counters, place, queue and seen-set."""
    ledger = case.start()
    job = new_job(ledger)
    fill(ledger, job, 2)
    ledger.place_job(job.number, HOST, "192.0.2.7")
    ledger.count(job.number, pages=2, kept=1, response_bytes=300)
    changed = Job(job.number, UNIT, "crawl", 3, 0, None, (), ((page(9), None),))
    ledger.open_job(changed)
    row = ledger.job(job.number)
    assert row is not None
    assert (row.job, row.host, row.address) == (changed, HOST, "192.0.2.7")
    assert (row.pages, row.kept, row.response_bytes) == (2, 1, 300)
    assert ledger.queued(job.number) == 2
    assert ledger.add_new(job.number, [page(0), page(7)]) == [False, True]


def test_counters_add_up(case: LedgerCase) -> None:
    """Counters are sums over commits and restarts."""
    ledger = case.start()
    job = new_job(ledger)
    ledger.count(job.number, pages=1, kept=0, response_bytes=10)
    ledger.commit()
    ledger.count(job.number, pages=1, kept=1, response_bytes=5)
    ledger.commit()
    row = case.start().job(job.number)
    assert row is not None
    assert (row.pages, row.kept, row.response_bytes) == (2, 1, 15)


def test_the_seen_set_is_exact_and_of_one_job(case: LedgerCase) -> None:
    """A URL is new once in each job, within a batch too, and stays known over a restart."""
    ledger = case.start()
    job, other = new_job(ledger), new_job(ledger, "http://other.example:80/")
    assert ledger.add_new(job.number, [page(1), page(2), page(1)]) == [True, True, False]
    assert ledger.add_new(other.number, [page(1)]) == [True]
    ledger.commit()
    ledger = case.start()
    assert ledger.add_new(job.number, [page(3), page(2)]) == [True, False]
    assert ledger.add_new(job.number, []) == []


def test_a_queue_keeps_its_order(case: LedgerCase) -> None:
    """URLs come out as they went in, with all that was said of them, behind a position."""
    ledger = case.start()
    job, other = new_job(ledger), new_job(ledger, "http://other.example:80/")
    first = fill(ledger, job, 3)
    fill(ledger, other, 2)
    ledger.push([queued(page(3), job, depth=4)])
    taken = ledger.take(job.number, 0, 10)
    assert [one.url for one in taken] == [page(number) for number in range(4)]
    assert [one.position for one in taken] == sorted({one.position for one in taken})
    assert (taken[3].depth, taken[3].referer, taken[3].job) == (
        4,
        "http://from.example/",
        job.number,
    )
    assert taken[3].attempts == 0
    assert ledger.take(job.number, first[0].position, 2) == taken[1:3]
    assert ledger.take(job.number, taken[3].position, 2) == []
    assert ledger.queued(job.number) == 4
    assert ledger.queued(other.number) == 2


def test_levels_are_queues_of_their_own(case: LedgerCase) -> None:
    """Each level has its order and its positions; ends and attempts stay in their level."""
    ledger = case.start()
    job = new_job(ledger)
    fill(ledger, job, 0)
    ledger.push(replace(queued(page(number), job), level=number % 3) for number in range(9))
    ledger.commit()
    ledger = case.start()
    levels = [ledger.take(job.number, 0, 9, level) for level in range(3)]
    for level, taken in enumerate(levels):
        assert [one.url for one in taken] == [page(level + step) for step in (0, 3, 6)]
        assert {one.level for one in taken} == {level}
    assert max(one.position for one in levels[1]) < min(one.position for one in levels[2])
    assert ledger.take(job.number, levels[2][0].position, 9, 2) == levels[2][1:]
    ledger.remove(job.number, levels[1][0].position)
    ledger.retry(job.number, levels[2][0].position, 1)
    ledger.commit()
    ledger = case.start()
    assert ledger.queued(job.number) == 8
    assert ledger.take(job.number, 0, 9) == levels[0]
    assert ledger.take(job.number, 0, 9, 1) == levels[1][1:]
    again = ledger.take(job.number, 0, 9, 2)
    assert [(one.url, one.attempts) for one in again] == [(page(5), 0), (page(8), 0), (page(2), 1)]


def test_all_that_waits_is_counted(case: LedgerCase) -> None:
    """URLs of all jobs that take any, over ends, attempts, commits and restarts."""
    ledger = case.start()
    jobs = [new_job(ledger, f"http://h{number}.example:80/") for number in range(4)]
    taken = [fill(ledger, job, 3) for job in jobs]
    assert ledger.waiting() == 12
    ledger.commit()
    ledger = case.start()
    assert ledger.waiting() == 12
    ledger.remove(jobs[0].number, taken[0][1].position)
    ledger.remove(jobs[0].number, taken[0][1].position)
    ledger.retry(jobs[1].number, taken[1][0].position, 1)
    assert ledger.waiting() == 11
    ledger.finish_job(jobs[2].number)
    ledger.drop_job(jobs[3].number)
    ledger.commit()
    assert ledger.waiting() == case.start().waiting() == 5


def test_taking_removes_nothing(case: LedgerCase) -> None:
    """What is under way is still in the ledger, and comes again after a crash."""
    ledger = case.start()
    job = new_job(ledger)
    taken = fill(ledger, job, 3)
    ledger.remove(job.number, taken[0].position)
    ledger.commit()
    ledger.remove(job.number, taken[1].position)  # lost with the crash
    ledger = case.start()
    assert ledger.take(job.number, 0, 9) == taken[1:]
    assert ledger.queued(job.number) == 2


def test_another_attempt_goes_behind(case: LedgerCase) -> None:
    """A URL that is tried again is the last of its queue, with its attempts and its time."""
    ledger = case.start()
    job = new_job(ledger)
    taken = fill(ledger, job, 3)
    ledger.retry(job.number, taken[0].position, 1, 1_700_000_000_000)
    ledger.commit()
    ledger = case.start()
    again = ledger.take(job.number, 0, 9)
    assert [one.url for one in again] == [page(1), page(2), page(0)]
    assert (again[2].attempts, again[2].due_ms) == (1, 1_700_000_000_000)
    assert again[1].due_ms == 0
    assert again[2].position > taken[2].position
    assert ledger.take(job.number, taken[2].position, 9) == again[2:]
    assert ledger.queued(job.number) == 3


def test_what_is_gone_stays_gone(case: LedgerCase) -> None:
    """To remove or try again what is not there changes nothing."""
    ledger = case.start()
    job = new_job(ledger)
    taken = fill(ledger, job, 2)
    ledger.remove(job.number, taken[0].position)
    ledger.remove(job.number, taken[0].position)
    ledger.retry(job.number, taken[0].position, 1)
    assert ledger.queued(job.number) == 1
    assert ledger.take(job.number, 0, 9) == taken[1:]


def test_a_finished_job_keeps_its_row_only(case: LedgerCase) -> None:
    """A job that is done has no queue any more and takes no URLs, over a restart too."""
    ledger = case.start()
    job = new_job(ledger)
    fill(ledger, job, 2)
    ledger.finish_job(job.number)
    ledger.commit()
    ledger = case.start()
    row = ledger.job(job.number)
    assert row is not None
    assert row.finished
    assert ledger.queued(job.number) == 0
    assert ledger.take(job.number, 0, 9) == []
    assert ledger.add_new(job.number, [page(8)]) == [False]
    ledger.push([queued(page(8), job)])
    assert ledger.queued(job.number) == 0


def test_a_dropped_job_takes_nothing(case: LedgerCase) -> None:
    """What comes late for a job that left the list changes nothing, and disturbs nobody."""
    ledger = case.start()
    job, other = new_job(ledger), new_job(ledger, "http://other.example:80/")
    taken = fill(ledger, job, 2)
    ledger.drop_job(job.number)
    ledger.count(job.number, pages=1, kept=1, response_bytes=1)
    ledger.place_job(job.number, HOST, "192.0.2.1")
    ledger.finish_job(job.number)
    ledger.remove(job.number, taken[0].position)
    ledger.retry(job.number, taken[1].position, 1)
    assert ledger.add_new(job.number, [page(1)]) == [False]
    ledger.push([queued(page(1), job)])
    ledger.commit()
    ledger = case.start()
    assert ledger.job(job.number) is None
    assert [row.job for row in ledger.each_job()] == [other]
    assert ledger.queued(job.number) == 0
    assert ledger.take(job.number, 0, 9) == []


def test_nothing_is_half_durable(case: LedgerCase) -> None:
    """After a crash, rows, queues, sets, segment and log are those of the last commit."""
    ledger = case.start()
    job = new_job(ledger)
    taken = fill(ledger, job, 2)
    ledger.append_captures([(capture_of(page(0)), ())])
    ledger.append_log([request_of(page(0), job)])
    ledger.remove(job.number, taken[0].position)
    ledger.commit()
    lost = new_job(ledger, "http://lost.example:80/")
    ledger.add_new(job.number, [page(5)])
    ledger.push([queued(page(5), job)])
    ledger.append_captures([(capture_of(page(1)), ("http://out.example/",))])
    ledger.append_log([request_of(page(1), job)])
    ledger.finish_job(job.number)
    ledger = case.start()
    assert case.captures() == [page(0)]
    assert case.log_urls() == [page(0)]
    assert ledger.job(lost.number) is None
    assert ledger.take(job.number, 0, 9) == taken[1:]
    assert ledger.add_new(job.number, [page(5), page(1)]) == [True, False]


def test_a_segment_goes_on_after_a_crash(case: LedgerCase) -> None:
    """Captures and lines that follow a crash stand behind those of the last commit."""
    for number in range(3):
        ledger = case.start()
        job = new_job(ledger, f"http://h{number}.example:80/")
        ledger.append_captures([(capture_of(page(number)), ())])
        ledger.append_log([request_of(page(number), job)])
        ledger.commit()
        ledger.append_captures([(capture_of(page(99)), ())])
        ledger.append_log([request_of(page(99), job)])
    case.start()
    assert case.captures() == [page(0), page(1), page(2)]
    assert case.log_urls() == [page(0), page(1), page(2)]


def test_a_full_disk_refuses_and_recovers(case: LedgerCase) -> None:
    """An append for which there is no room changes nothing, and may be tried again."""
    ledger = case.start()
    job = new_job(ledger)
    ledger.append_captures([(capture_of(page(0)), ())])
    ledger.commit()
    case.fill_disk(True)
    with pytest.raises(DiskFullError):
        ledger.append_captures([(capture_of(page(1)), ())])
    with pytest.raises(DiskFullError):
        ledger.append_log([request_of(page(1), job)])
    case.fill_disk(False)
    ledger.append_captures([(capture_of(page(1)), ())])
    ledger.append_log([request_of(page(1), job)])
    ledger.commit()
    case.start()
    assert case.captures() == [page(0), page(1)]
    assert case.log_urls() == [page(1)]


def test_a_failed_commit_may_be_tried_again(case: LedgerCase) -> None:
    """When a commit finds no room, nothing is lost: the next one makes all of it durable."""
    ledger = case.start()
    job = new_job(ledger)
    taken = fill(ledger, job, 2)
    case.fill_disk(True)
    with pytest.raises(DiskFullError):
        ledger.commit()
    case.fill_disk(False)
    ledger.remove(job.number, taken[0].position)
    ledger.commit()
    assert case.start().take(job.number, 0, 9) == taken[1:]


def test_jobs_are_found_by_their_address_and_one_after_the_other(case: LedgerCase) -> None:
    """Only open ones; what waits of each is as of now, before a commit and after a restart."""
    ledger = case.start()
    units = [f"http://h{number}.example:80/" for number in range(5)]
    jobs = [new_job(ledger, unit) for unit in units]
    for job, address in zip(jobs, ("192.0.2.1", "", "192.0.2.2", "192.0.2.1"), strict=False):
        if address:
            ledger.place_job(job.number, job.unit, address)
    fill(ledger, jobs[2], 7)
    ledger.finish_job(jobs[3].number)
    for _ in range(2):
        assert [row.job for row in ledger.jobs_at("192.0.2.1")] == [jobs[0]]
        assert [row.job for row in ledger.jobs_at("192.0.2.2")] == [jobs[2]]
        assert ledger.jobs_at("") == ledger.jobs_at("192.0.2.3") == []
        assert [row.job for row in ledger.each_job()] == jobs
        finished = [(job.number, job.unit, job is jobs[3]) for job in jobs]
        assert list(ledger.units()) == finished
        assert list(ledger.orders()) == [[(job, job is jobs[3]) for job in jobs]]
        assert list(ledger.open_jobs()) == [
            OpenJob(jobs[0].number, "192.0.2.1", 0, 500),
            OpenJob(jobs[1].number, "", 0, 500),
            OpenJob(jobs[2].number, "192.0.2.2", 7, 500),
            OpenJob(jobs[4].number, "", 0, 500),
        ]
        assert [one.number for one in ledger.open_jobs(jobs[1].number)] == [
            jobs[2].number,
            jobs[4].number,
        ]
        assert list(ledger.unplaced_jobs()) == [[jobs[1].number, jobs[4].number]]
        ledger.commit()
        ledger = case.start()


def test_jobs_without_an_address_are_found_among_thousands_with_one(case: LedgerCase) -> None:
    """All of them, in order, also behind long stretches without one."""
    ledger = case.start()
    jobs = [new_job(ledger, f"http://h{number}.example:80/") for number in range(9000)]
    lost = [job.number for job in (jobs[0], jobs[1], jobs[8998], jobs[8999])]
    for job in jobs:
        if job.number not in lost:
            ledger.place_job(job.number, job.unit, "192.0.2.1")
    ledger.finish_job(lost.pop(1))
    assert [number for part in ledger.unplaced_jobs() for number in part] == lost


def test_orders_are_looked_through_while_jobs_go(case: LedgerCase) -> None:
    """Some at a time; those that were dropped meanwhile are not among the later ones."""
    ledger = case.start()
    jobs = [new_job(ledger, f"http://h{number}.example:80/") for number in range(2500)]
    met: list[Job] = []
    for part in ledger.orders():
        assert len(part) <= 1000
        met += [job for job, _ in part]
        for job in (*jobs[:5], *jobs[2400:]):
            ledger.drop_job(job.number)
    assert met == jobs[:2400]


def test_rests_are_remembered_until_they_are_forgotten(case: LedgerCase) -> None:
    """An address has one rest, the last one; what no commit held is as before it."""
    ledger = case.start()
    first, second = (
        AddressBackoff(f"192.0.2.{one}", HOST, "timeout", one, one * 10**12) for one in (1, 2)
    )
    for rest in (first, second, replace(first, strikes=5)):
        ledger.keep_rest(rest)
    ledger.commit()
    ledger.forget_rest(first.address)
    ledger.keep_rest(replace(second, reason="status 503"))
    assert ledger.rests() == [replace(second, reason="status 503")]
    ledger = case.start()
    assert sorted(ledger.rests(), key=lambda one: one.address) == [
        replace(first, strikes=5),
        second,
    ]
    ledger.forget_rest("192.0.2.9")
