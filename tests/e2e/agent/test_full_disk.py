"""The ledger on a file system that is really full."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.adapters.ledger import SqliteLedger
from agent.adapters.reports import DurableReports
from agent.pipeline.ledger import QueuedUrl
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.pages import Outside
from shared.archive.capture import Capture
from shared.archive.encode import encode_capture
from shared.archive.errors import DiskFullError
from shared.archive.verify import verify_segment
from tests.agent.adapters.installation import captures_of, lines_of, open_ledger
from tests.agent.modules.answers import due_of, ended
from tests.e2e.mounts import small_file_system

pytestmark = pytest.mark.e2e

HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    with small_file_system(tmp_path / "disk", "size=2m") as folder:
        yield folder


def capture(ledger: SqliteLedger, number: int) -> None:
    url = f"http://a.example/{number}"
    page = Capture(url, 1_700_000_000_000, b"", HEADER, os.urandom(3000))
    ledger.append_captures([(encode_capture(page), ())])


def log(ledger: SqliteLedger, job: Job, number: int) -> None:
    url = f"http://a.example/{number}"
    ledger.append_log([ended(due_of(url, job=job.number), header=HEADER)])


def fill(folder: Path, left_bytes: int) -> Path:
    """Use the room up but for some bytes."""
    ballast = folder / "ballast"
    state = os.statvfs(folder)
    with ballast.open("wb") as file:
        file.write(bytes(max(0, state.f_bavail * state.f_frsize - left_bytes)))
    return ballast


@pytest.mark.parametrize("left_bytes", [0, 4096, 8192, 16_384, 40_960])
def test_the_crawl_stands_still_and_goes_on(small_disk: Path, left_bytes: int) -> None:
    """Whatever finds no room is refused whole; with room again nothing is missing or twice."""
    ledger = open_ledger(small_disk / "crawl")
    reports = DurableReports(ledger.database)
    job = Job(ledger.new_job_number(), "http://a.example:80/", "crawl", 1)
    ledger.open_job(job)
    urls = [f"http://a.example/{number}" for number in range(60)]
    ledger.add_new(job.number, urls)
    ledger.push(QueuedUrl(0, url, job.number, 0, 0, None) for url in urls)
    for number in range(20):
        capture(ledger, number)
        log(ledger, job, number)
        ledger.remove(job.number, number + 1)
        ledger.commit()
    ballast = fill(small_disk, left_bytes)
    number, captured, refused = 20, False, 0
    while refused < 5:
        try:
            if not captured:
                capture(ledger, number)
                captured = True
            log(ledger, job, number)
            ledger.remove(job.number, number + 1)
            reports.outside([Outside(f"http://b{number}.example/", None)])
            number, captured = number + 1, False
            ledger.commit()
        except DiskFullError:
            refused += 1
        assert ledger.queued(job.number) == 60 - number
        assert len(ledger.take(job.number, 0, 60)) == 60 - number
    ballast.unlink()
    for later in range(number, 60):
        if later > number or not captured:
            capture(ledger, later)
        log(ledger, job, later)
        ledger.remove(job.number, later + 1)
    ledger.commit()
    ledger.abandon()

    ledger = open_ledger(small_disk / "crawl")
    assert captures_of(small_disk / "crawl") == urls
    assert [one.url for one in lines_of(small_disk / "crawl")] == urls
    assert ledger.queued(job.number) == 0
    ledger.seal_segment()
    ledger.close()
    [segment] = (small_disk / "crawl" / "segments").glob("*.warc.gz")
    assert verify_segment(segment).captures == 60


def test_a_ledger_that_finds_no_room_at_its_start_says_so(small_disk: Path) -> None:
    """Nothing half made hinders the start after room was made."""
    ballast = fill(small_disk, 8192)
    for _ in range(2):
        with pytest.raises(DiskFullError):
            open_ledger(small_disk / "crawl")
    ballast.unlink()
    open_ledger(small_disk / "crawl").close()
