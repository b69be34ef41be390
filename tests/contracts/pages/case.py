"""Builds the page workers of the contract, and runs pages through them."""

from __future__ import annotations

import asyncio
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from agent.adapters.pages.fork_server import ForkServer
from agent.adapters.pages.inline import InlinePages
from agent.adapters.pages.pool import WorkerOptions, WorkerPages
from agent.adapters.pages.worker_start import by_command
from agent.pipeline.messages.pages import Fetched, PageWork
from agent.pipeline.ports import PageWorker
from shared.archive.capture import Capture
from tests.contracts.pages.program import archive, be_worker, work

PROGRAM = [sys.executable, "-m", "tests.contracts.pages.program"]
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
OPTIONS = WorkerOptions(workers=2, cpu_s=0.5, memory_bytes=600_000_000)


def page(number: int, body: bytes = b"<a href=x>", host: str = "a.example") -> Fetched:
    """Return a fetched page; its number is in its URL."""
    url = f"http://{host}/d/{number}"
    capture = Capture(
        url, 1_700_000_000_000 + number, b"GET / HTTP/1.1\r\n\r\n", HTML, body, "192.0.2.1"
    )
    return Fetched(capture, url, f"http://{host}:80/", "192.0.2.1", number, 2, 1)


def rules(number: int) -> Fetched:
    """Return a fetched robots.txt."""
    return replace(page(number, b"User-agent: *"), is_rules=True)


@dataclass
class Remarks:
    """What would be shown in the status."""

    said: list[tuple[str, str]] = field(default_factory=list)

    def add(self, reason: str, example: str) -> None:
        self.said.append((reason, example))

    @property
    def reasons(self) -> set[str]:
        return {reason for reason, _ in self.said}


Make = Callable[[WorkerOptions, Remarks], PageWorker]


def inline(options: WorkerOptions, remarks: Remarks) -> InlinePages:
    return InlinePages(work, remarks.add)


def started(options: WorkerOptions, remarks: Remarks) -> WorkerPages:
    return WorkerPages(options, by_command(PROGRAM), {}, archive, remarks.add)


def forked(options: WorkerOptions, remarks: Remarks) -> WorkerPages:
    # A worker has all of this process in its memory, which is more than an agent's.
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    options = replace(options, memory_bytes=options.memory_bytes + size)
    return WorkerPages(options, fork_server().launch, {}, archive, remarks.add)


@cache
def fork_server() -> ForkServer:
    """Return the fork server of this test process; it ends with it."""
    return ForkServer.open(lambda: be_worker)


async def all_done(worker: PageWorker, pages: Sequence[Fetched]) -> list[PageWork]:
    """Start pages, wait until all are done; return their works in the order of being done."""
    done: list[PageWork] = []
    over = asyncio.Event()

    def take(work: PageWork) -> None:
        done.append(work)
        if len(done) == len(pages):
            over.set()

    for one in pages:
        worker.start(one, take)
    async with asyncio.timeout(120):
        await over.wait()
    return done


def run(
    make: Make,
    pages: Sequence[Fetched],
    options: WorkerOptions = OPTIONS,
    remarks: Remarks | None = None,
) -> dict[str, PageWork]:
    """Return what becomes of pages, by URL; each is done once."""

    async def scenario() -> list[PageWork]:
        worker = make(options, remarks or Remarks())
        try:
            return await all_done(worker, pages)
        finally:
            worker.close()

    done = asyncio.run(scenario())
    by_url = {work.processed.url: work for work in done}
    assert len(by_url) == len(done) == len(pages)
    return by_url
