"""What becomes of worker processes that pages kill, and of the pages beside them."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.adapters.body_memory import BodyMemory
from agent.adapters.pages import pool
from agent.adapters.pages.pool import WorkerOptions, WorkerPages
from agent.adapters.pages.worker_start import by_command
from agent.pipeline.messages.pages import PageWork
from tests.contracts.pages.case import (
    OPTIONS,
    PROGRAM,
    Remarks,
    all_done,
    forked,
    page,
    run,
    started,
)
from tests.contracts.pages.program import archive

MakeWorkers = Callable[[WorkerOptions, Remarks], WorkerPages]


@pytest.fixture(params=[started, forked])
def workers(request: pytest.FixtureRequest) -> MakeWorkers:
    """Page workers that are started as programs, or forked."""
    make: MakeWorkers = request.param
    return make


READ = ("http://a.example/d/x",)

BOMBS = [
    (b"spin", "parse-timeout"),
    (b"eat", "parse-memory"),
    (b"crash", "parse-crash"),
    (b"lie", "parse-crash"),
    (b"kill", "parse-crash"),
    (b"end", "parse-crash"),
    (b"later spin", "parse-timeout"),
    (b"later eat", "parse-memory"),
    (b"later crash", "parse-crash"),
]


@pytest.mark.parametrize(("bomb", "note"), BOMBS)
def test_a_page_that_kills_its_worker_is_archived_unread(
    workers: MakeWorkers, bomb: bytes, note: str
) -> None:
    """It keeps its record, with the reason as its note; the others of its batch lose nothing."""
    remarks = Remarks()
    pages = [page(n, bomb if n == 20 else b"<a href=x>") for n in range(50)]
    done = run(workers, pages, remarks=remarks)
    bad = done.pop(pages[20].url)
    assert (bad.processed.note, bad.links.urls) == (note, ())
    assert unpacked(bad) == unpacked(archive(pages[20], note))
    assert {one.links.urls for one in done.values()} == {READ}
    assert (f"pages not read: {note}", pages[20].url) in remarks.said


def unpacked(work: PageWork) -> PageWork:
    """Return work with plain records: one process does not pack bytes as another one does."""
    encoded = work.processed.encoded
    plain = replace(
        encoded,
        data=gzip.decompress(encoded.data),
        entry=replace(encoded.entry, offset=0, length=0),
    )
    return replace(work, processed=replace(work.processed, encoded=plain))


def test_a_worker_that_hangs_is_killed(workers: MakeWorkers) -> None:
    """Silence is enough, without any use of the processor."""
    pages = [page(1, b"hang"), page(2)]
    done = run(workers, pages, replace(OPTIONS, silence_s=1.0))
    assert done[pages[0].url].processed.note == "parse-timeout"
    assert done[pages[1].url].links.urls == READ


def test_a_worker_that_somebody_else_killed_is_no_evidence(
    workers: MakeWorkers, tmp_path: Path
) -> None:
    """The page that it was at gets another reading."""
    pages = [page(1, b"kill-once %b" % bytes(tmp_path / "killed")), page(2)]
    done = run(workers, pages)
    assert done[pages[0].url].processed.note == ""


def test_a_page_that_no_worker_survives_is_archived_in_this_process(workers: MakeWorkers) -> None:
    """Even then its record is kept."""
    only = page(1, b"kill-always")
    assert run(workers, [only])[only.url].processed.note == "parse-crash"


def test_a_host_with_three_such_pages_is_set_aside(workers: MakeWorkers) -> None:
    """Its further pages are archived unread, counted with an example; other hosts go on."""
    remarks = Remarks()

    async def scenario() -> tuple[list[PageWork], list[PageWork]]:
        door = workers(OPTIONS, remarks)
        try:
            await all_done(door, [page(n, b"crash", "bad.example") for n in range(3)])
            later = await all_done(door, [page(n, host="bad.example") for n in range(3, 6)])
            other = await all_done(door, [page(7)])
        finally:
            door.close()
        return later, other

    later, other = asyncio.run(scenario())
    assert {one.processed.note[:14] for one in later} == {"parse-skipped:"}
    assert {one.links.urls for one in later} == {()}
    assert [one.links.urls for one in other] == [READ]
    assert ("hosts whose pages are no longer read", "http://bad.example:80/") in remarks.said
    skipped = [example for reason, example in remarks.said if "archived unread" in reason]
    assert sorted(skipped) == [f"http://bad.example/d/{n}" for n in range(3, 6)]


def test_an_exception_of_ours_is_not_its_hosts_blame(workers: MakeWorkers) -> None:
    """It costs its page's links and is counted; the host's other pages are read."""
    remarks = Remarks()

    async def scenario() -> tuple[list[PageWork], list[PageWork]]:
        door = workers(OPTIONS, remarks)
        try:
            bad = await all_done(door, [page(n, b"raise", "odd.example") for n in range(5)])
            later = await all_done(door, [page(n, host="odd.example") for n in range(5, 8)])
        finally:
            door.close()
        return bad, later

    bad, later = asyncio.run(scenario())
    assert {one.processed.note[:21] for one in bad} == {"parse-error: KeyError"}
    assert {one.processed.note for one in later} == {""}
    assert all(one.links.urls for one in later)
    assert len([1 for reason, _ in remarks.said if "parse-error" in reason]) == 5


def test_killed_workers_are_replaced(workers: MakeWorkers) -> None:
    """Whoever kills workers again and again, nothing is lost."""

    async def scenario() -> tuple[int, int]:
        door = workers(OPTIONS, Remarks())
        done = 0
        try:
            for _ in range(4):
                started = asyncio.ensure_future(all_done(door, [page(n) for n in range(100)]))
                await asyncio.sleep(0)
                for pid in door.workers:
                    os.kill(pid, signal.SIGKILL)
                done += len(await started)
        finally:
            door.close()
        return done, len(door.workers)

    assert asyncio.run(scenario()) == (400, 0)


def test_pages_are_counted_until_they_are_done() -> None:
    """Whatever becomes of them: read, archived unread, or sent once more."""
    held = BodyMemory()
    sums = []

    async def scenario() -> None:
        door = WorkerPages(OPTIONS, by_command(PROGRAM), {}, archive, Remarks().add, held)
        pages = [page(n, b"crash" if n == 5 else b"x" * 10_000) for n in range(20)]
        over = asyncio.Event()

        def take(_: PageWork) -> None:
            sums.append(held.sum)
            if len(sums) == len(pages):
                over.set()

        for one in pages:
            door.start(one, take)
        assert 19 * 10_000 <= held.sum == held.waiting
        async with asyncio.timeout(60):
            await over.wait()
        door.close()

    asyncio.run(scenario())
    assert sums == sorted(sums, reverse=True)
    assert (held.sum, held.waiting) == (0, 0)


def test_what_is_with_the_workers_is_bounded(
    workers: MakeWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more than the bound is sent; what waits beyond another asks for a pause in fetching."""
    monkeypatch.setattr(pool, "MAX_SENT_BYTES", 300_000)
    monkeypatch.setattr(pool, "CROWD_BYTES", 1_000_000)
    body = b"x" * 100_000
    greatest, crowds = 0, []

    async def scenario() -> None:
        nonlocal greatest
        door = workers(OPTIONS, Remarks())
        left = 30
        over = asyncio.Event()

        def take(_: PageWork) -> None:
            nonlocal left, greatest
            left -= 1
            greatest = max(greatest, door.sent_bytes)
            crowds.append(door.crowded)
            if not left:
                over.set()

        for n in range(30):
            door.start(page(n, body), take)
            greatest = max(greatest, door.sent_bytes)
        crowds.append(door.crowded)
        async with asyncio.timeout(60):
            await over.wait()
        door.close()

    asyncio.run(scenario())
    # Of each of two workers a page may be sent whatever the bound says.
    assert 0 < greatest <= 300_000 + 2 * 600_000
    assert crowds[0]
    assert not crowds[-1]


def test_workers_that_cannot_be_started_are_tried_again() -> None:
    """A program that ends at once is shown, pages wait, and nothing spins."""
    remarks = Remarks()

    async def scenario() -> int:
        done: list[PageWork] = []
        said = asyncio.Event()

        def remark(reason: str, example: str) -> None:
            remarks.add(reason, example)
            said.set()

        door = WorkerPages(WorkerOptions(workers=1), by_command(["false"]), {}, archive, remark)
        door.start(page(1), done.append)
        async with asyncio.timeout(60):
            await said.wait()
        door.close()
        return len(done)

    assert asyncio.run(scenario()) == 0
    assert remarks.said == [
        ("page workers that could not be started", "exit code 1 before it was ready")
    ]


def test_a_worker_ends_with_its_agent(workers: MakeWorkers) -> None:
    """Closing leaves no process behind."""

    async def scenario() -> list[int]:
        door = workers(OPTIONS, Remarks())
        await all_done(door, [page(1)])
        pids = door.workers
        door.close()
        return pids

    for pid in asyncio.run(scenario()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
