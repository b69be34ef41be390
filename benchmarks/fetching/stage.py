"""One process that crawls a prepared web, turn by turn.

    python -m benchmarks.fetching.stage WEB FOLDER PAGES A_TURN [MORE]

The last line on standard output is JSON. A_TURN: requests that end between two turns of the loop;
time passes by the clock of the benchmark, five milliseconds a turn. MORE: byte codes are counted
over so many further pages.
"""

from __future__ import annotations

import asyncio
import gc
import json
import marshal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeAlias

from agent.adapters.curl import CurlFetcher, FetchOptions
from agent.adapters.last_captures import EarlierFile
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.adapters.pages import pool
from agent.adapters.pages.process import Task, WorkerProcess
from agent.adapters.pages.wire import frame_of
from agent.adapters.pages.worker_start import Launched
from agent.adapters.reports import DurableReports
from agent.modules.assemble import Crawl, CrawlPorts
from agent.modules.limits import CrawlLimits, Politeness
from agent.modules.server_list.list_change import ListChange, wanted_of
from agent.pipeline.crawl import CRAWL
from agent.pipeline.messages.hosts import LookUp
from agent.pipeline.messages.jobs import ServerList
from agent.runners.crawl_loop import CrawlLoop
from agent.runners.in_process import InProcessRunner
from benchmarks.fetching.web import Answer
from shared.archive.encode import SegmentInfo
from shared.wire.orders import ListHead, Order

TraceFunction: TypeAlias = Callable[[FrameType, str, Any], Any]

TURN_S: Final = 0.005
LINGERED_TURNS: Final = 5
BODY_PIECE: Final = 16384  # libcurl's buffer

_POLITENESS: Final = Politeness(interval_s=0, fast_interval_s=0, times_last=0, burst=0)


class Clock:
    """Time as the benchmark has it."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def monotonic_s(self) -> float:
        """Return seconds."""
        return self.now_s

    def boottime_s(self) -> float:
        """Return seconds."""
        return self.now_s

    def epoch_ms(self) -> int:
        """Return milliseconds."""
        return 1_800_000_000_000 + int(self.now_s * 1000)


class Multi:
    """In place of libcurl's: requests end when the benchmark says so."""

    def __init__(self) -> None:
        self.begun: deque[Any] = deque()

    def setopt(self, _option: int, _value: object) -> None:
        """Take no option."""

    def add_handle(self, handle: Any) -> None:
        """Begin."""
        self.begun.append(handle)

    def remove_handle(self, handle: Any) -> None:
        """End."""

    def close(self) -> None:
        """End all."""


class Names:
    """A resolver that gives each host a separate address."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def start(self, host: str, done: Callable[[LookUp], None]) -> None:
        """Answer at once."""
        number = len(self._known)
        address = self._known.setdefault(host, f"10.0.{number >> 8}.{number & 255}")
        done(LookUp(host, (address,), 86_400.0))


class Worker(WorkerProcess):
    """A page worker that has written everything beforehand."""

    answers: dict[str, Answer]

    def __init__(self, _launch: object, _told: bytes, *, answered: Any, ended: Any) -> None:
        self._answered, self._ended = answered, ended
        self.tasks: deque[Task] = deque()
        self._received = bytearray()
        self._results = self.sent_bytes = 0
        self.ready = True

    @property
    def pid(self) -> int:
        """No process."""
        return 0

    def answer(self) -> None:
        """Give the results of all pages that were sent."""
        parts = [self.answers[task.page.url][2] for task in self.tasks]
        if parts:
            self._received += frame_of(*parts, count=len(parts))
            self._answered(self, self._take_frames())

    def beat(self) -> int:
        """Never silent."""
        return 0

    def close(self) -> None:
        """Nothing is open."""

    def _write(self, parts: object) -> None:
        """Drop what a pipe would carry."""


def _launch(_files: object) -> Launched:
    raise OSError("no process is needed")


class Timers:
    """In place of the pool's loop: nothing happens by itself."""

    def call_later(self, _seconds: float, _call: Callable[[], None]) -> Any:
        """Remember nothing."""
        return self

    def cancel(self) -> None:
        """Nothing to cancel."""


class Stage:
    """The process that fetches; made inside a running event loop."""

    def __init__(self, answers: dict[str, Answer], folder: Path) -> None:
        self.answers = answers
        self.clock = clock = Clock()
        info = SegmentInfo("prsm/bench", "bench", "mailto:robot@bench.example")
        self.ledger = SqliteLedger.open(folder, LedgerOptions("bench.example", info), clock)
        self.reports = DurableReports(self.ledger.database)
        options = FetchOptions(user_agent="PRS/0.1", from_address="robot@bench.example")
        self.fetcher = CurlFetcher(options, lambda: True, lambda address: None, clock)
        self.multi = self.fetcher._multi = Multi()
        Worker.answers = answers
        vars(pool)["WorkerProcess"] = Worker
        self.pages = pool.WorkerPages(
            pool.WorkerOptions(1), _launch, {}, lambda *_: sys.exit("archived"), lambda *_: None
        )
        self.pages._loop = Timers()  # type: ignore[assignment]
        earlier = EarlierFile(folder / "earlier.sqlite", clock, 30.0)
        ports = CrawlPorts(
            self.ledger, self.fetcher, Names(), self.pages, self.reports, clock, earlier
        )
        limits = CrawlLimits(parallel=300, require_public_suffix=True)
        crawl = Crawl(ports, _POLITENESS, limits, "PRS", lambda url: False)
        self.runner = InProcessRunner(CRAWL, crawl.make)
        self.loop = CrawlLoop(self.runner, crawl, self.ledger, clock, lambda: True)
        self.runner.on_post(lambda: None)
        self._turns = 0

    def take_list(self, hosts: Iterable[str]) -> None:
        """Put a list of hosts in force."""
        orders = tuple(Order(host) for host in hosts)
        taking = ListChange(self.ledger, wanted_of(ServerList(ListHead(1), orders)))
        for one in taking.slices():
            self.runner.post("seed.list", one)
            self.runner.run_until_settled()

    async def turn(self, most: int) -> int:
        """Turn the loop once, then end up to so many requests; return how many ended."""
        self.clock.now_s += TURN_S
        self.loop.turn()
        ended = min(most, len(self.multi.begun))
        for _ in range(ended):
            self._end(self.multi.begun.popleft())
        self.fetcher._deliver_all()
        self._turns += 1
        if not self._turns % LINGERED_TURNS or not ended:
            self.pages._dispatch()
        for worker in self.pages._workers:
            worker.answer()  # type: ignore[attr-defined]
        return ended

    def _end(self, handle: Any) -> None:
        slot = self.fetcher._busy[handle]
        header, body, _ = self.answers[slot.request.url]
        slot._before_sending(slot.request.address, "", 80, 1000)
        for line in header.splitlines(keepends=True):
            slot.lines.append(line)
        for at in range(0, len(body), BODY_PIECE):
            slot._write(body[at : at + BODY_PIECE])
        self.fetcher._finish(handle, 0, "")


class ByteCodes:
    """Counts what Python evaluates."""

    def __init__(self) -> None:
        self.count = 0

    def begin(self) -> None:
        """Count in all functions that are called from now on."""
        sys.settrace(self._called)

    def _called(self, frame: FrameType, _event: str, _arg: object) -> TraceFunction:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._traced

    def _traced(self, _frame: FrameType, event: str, _arg: object) -> TraceFunction:
        self.count += event == "opcode"
        return self._traced


async def crawl(
    web: dict[str, Any], folder: Path, pages: int, a_turn: int, more: int
) -> dict[str, float]:
    """Crawl so many pages; return what they cost."""
    stage = Stage(web["answers"], folder)
    stage.take_list(web["hosts"])
    stage.loop._garbage.begin(stage.clock.now_s)
    gc.collect()
    begun_s, idle = time.process_time(), 0
    counted = stage.reports.counters
    while counted().pages < pages and idle < 1000:
        idle = 0 if await stage.turn(a_turn) else idle + 1
    used_s = time.process_time() - begun_s
    done = copy(counted())
    codes = ByteCodes()
    if more:
        codes.begin()
    while counted().pages < done.pages + more:
        await stage.turn(a_turn)
    sys.settrace(None)
    return {
        "pages": done.pages,
        "requests": done.requests,
        "us_per_page": round(used_s / max(1, done.pages) * 1e6, 1),
        "known": stage.ledger.known,
        "byte_codes": round(codes.count / max(1, counted().pages - done.pages)),
    }


def main() -> None:
    """Run one stage."""
    path, folder = Path(sys.argv[1]), Path(sys.argv[2])
    pages, a_turn, more = (int(text) for text in (*sys.argv[3:6], "0")[:3])
    with path.open("rb") as file:
        web = marshal.load(file)  # ours
    print(json.dumps(asyncio.run(crawl(web, folder, pages, a_turn, more))), flush=True)


if __name__ == "__main__":
    main()
