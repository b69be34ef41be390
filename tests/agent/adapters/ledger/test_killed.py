"""A process that is killed at any step of its work leaves the state of its last commit."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agent.adapters.ledger import Database
from agent.adapters.reports import DurableReports
from agent.pipeline.ledger import QueuedUrl
from agent.pipeline.messages.jobs import Job, UnitFinished
from agent.pipeline.messages.pages import Outside
from shared.archive.capture import Capture
from shared.archive.cdxj import cdxj_line
from shared.archive.encode import encode_capture
from shared.archive.verify import verify_segment
from shared.wire.crawl_log import LogLine, decode
from tests.agent.adapters.installation import TINY, captures_of, lines_of, open_ledger
from tests.agent.modules.answers import due_of, ended
from tests.examples import examples

ROUNDS = examples(6)
UNIT = "http://a.example:80/"
HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
SMALL = replace(TINY, max_segment_bytes=1800)  # a segment is sealed every few rounds
STEPS = (
    (os, "fsync"),
    (os, "truncate"),
    (Path, "rename"),
    (Path, "unlink"),
    (Database, "commit"),
    (Database, "run_many"),
)


def page(number: int) -> str:
    return f"http://a.example/{number}"


def work(folder: Path, outbox: Path, done: Callable[[int], None]) -> None:
    """Fetch pages one by one, hand logs on, and say after each commit how far it came."""
    ledger = open_ledger(folder, SMALL)
    reports = DurableReports(ledger.database)
    rows = list(ledger.each_job())
    job = rows[0].job if rows else Job(ledger.new_job_number(), UNIT, "crawl", 1)
    if not rows:
        ledger.open_job(job)
        urls = [page(number) for number in range(ROUNDS)]
        ledger.add_new(job.number, urls)
        ledger.push(QueuedUrl(0, url, job.number, 0, 0, None) for url in urls)
        ledger.commit()
    for item in ledger.take(job.number, 0, ROUNDS):
        number = int(item.url.rpartition("/")[2])
        capture = Capture(item.url, 1_700_000_000_000, b"", HEADER, b"<p>%d" % number)
        ledger.append_captures([(encode_capture(capture), (f"http://b.example/{number}",))])
        ledger.append_log([ended(due_of(item.url), header=HEADER)])
        ledger.count(job.number, pages=1, kept=1, response_bytes=9)
        ledger.remove(job.number, item.position)
        reports.outside([Outside(f"http://b.example/{number}", item.url)])
        ledger.commit()
        done(number)
        if number % 3 == 2:
            ledger.close_log(1_700_000_000_000 + number)
            for log in ledger.closed_logs():
                (outbox / log.key).write_bytes(b"".join(log.body()))
                ledger.forget_log(log)
            ledger.commit()
    reports.finished(UnitFinished(job.number, UNIT, UNIT, "crawl", 1, ROUNDS, 9 * ROUNDS))
    ledger.finish_job(job.number)
    ledger.close()


def count_steps(limit: int, reached: Callable[[], None]) -> list[int]:
    """Call `reached` before the step of that number; return the counter."""
    counter = [0]

    def counted(original: Any) -> Any:
        def step(*args: Any, **named: Any) -> Any:
            counter[0] += 1
            if counter[0] == limit:
                reached()
            return original(*args, **named)

        return step

    for owner, name in STEPS:
        setattr(owner, name, counted(getattr(owner, name)))
    return counter


def run_until(step: int, folder: Path, outbox: Path) -> tuple[bool, int]:
    """Work in a child that is killed before a step; return whether it was, and its last word."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            count_steps(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
            work(folder, outbox, lambda number: _say(writing, number))
            os._exit(0)
        finally:  # whatever happened, this process must not go on as a second pytest
            os._exit(1)
    os.close(writing)
    said = b""
    while data := os.read(reading, 4096):
        said += data
    os.close(reading)
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status)
    assert killed or os.WEXITSTATUS(status) == 0, f"step {step}: the work failed"
    return killed, said[-1] if said else -1


def _say(writing: int, number: int) -> None:
    os.write(writing, bytes([number]))


def check(folder: Path, outbox: Path, acknowledged: int) -> None:
    """Captures, lines, queue, links and counters tell the same story, each page once."""
    ledger = open_ledger(folder, SMALL)
    reports = DurableReports(ledger.database)
    captured = captures_of(folder)
    assert captured == [page(number) for number in range(len(captured))]
    assert acknowledged < len(captured) <= acknowledged + 2
    logs = {path.name: path.read_bytes() for path in outbox.iterdir()}
    logs |= {log.key: b"".join(log.body()) for log in ledger.closed_logs()}
    handed = [
        line.url
        for key in sorted(logs)
        for line in decode([logs[key]])
        if isinstance(line, LogLine)
    ]
    closed = {log.path.name for log in ledger.closed_logs()}
    still_open = _open_lines(folder, closed)
    assert handed + still_open == captured
    rows = list(ledger.each_job())
    if rows and not rows[0].finished:
        left = [item.url for item in ledger.take(rows[0].job.number, 0, 99)]
        assert left == [page(number) for number in range(len(captured), ROUNDS)]
        assert (rows[0].pages, rows[0].kept) == (len(captured), len(captured))
        assert reports.pending_finished(9) == []
    elif rows:
        assert len(captured) == ROUNDS
        assert len(reports.pending_finished(9)) == 1
    outside = reports.take_outside(99)
    assert len(outside.urls if outside else ()) == len(captured)
    assert len(_links(folder)) == len(captured)
    ledger.abandon()
    for path in (folder / "segments").glob("*.warc.gz"):
        check_index(path)


def check_index(segment: Path) -> None:
    """Its records are sound, and its index and sum are what they say."""
    lines: list[bytes] = []
    verify_segment(
        segment, each=lambda entry: lines.append(cdxj_line(entry, entry.offset, segment.name))
    )
    index, summed = (segment.with_name(segment.name + end) for end in (".cdxj", ".sha256"))
    assert index.read_bytes() == b"".join(sorted(lines))
    assert summed.read_text().split()[0] == sha256(segment.read_bytes()).hexdigest()


def _open_lines(folder: Path, closed: set[str]) -> list[str]:
    copy = folder.with_name(folder.name + "-open")
    shutil.copytree(folder / "logs", copy / "logs")
    for name in closed:
        (copy / "logs" / name).unlink()
    lines = [line.url for line in lines_of(copy)]
    shutil.rmtree(copy)
    return lines


def _links(folder: Path) -> list[bytes]:
    return [
        line
        for path in (folder / "segments").glob("*.links.gz*")
        for line in gzip.decompress(path.read_bytes()).splitlines()
    ]


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Path]:
    """A folder where syncing costs nothing, if there is one: what counts here are the steps."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.mark.forks
@pytest.mark.timeout(280)
def test_every_step_may_be_the_last(quick: Path) -> None:
    """Killed before each step in turn, the state agrees with itself and the work can be ended."""
    step = 0
    killed = True
    while killed:
        step += 1
        folder, outbox = quick / f"crawl{step}", quick / f"outbox{step}"
        outbox.mkdir()
        killed, acknowledged = run_until(step, folder, outbox)
        check(folder, outbox, acknowledged)
        again, _ = run_until(10**9, folder, outbox)
        assert not again
        check(folder, outbox, ROUNDS - 1)
        shutil.rmtree(folder)
        shutil.rmtree(outbox)
    assert step > 15 * ROUNDS
