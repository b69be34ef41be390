"""A worker process: takes batches of pages, gives back their links and records.

It reads the pages of a batch one after the other, then makes their records: code that has just
run is still in the processor's caches (docs/adr/0161).

Its limits are its own and need no supervision: CPU time for each page (`page_timeout`), and
address space. Which page it is at stands in memory that its parent shares, so a page that kills
it is known.

Invariant: it writes nothing but results, in the order of its pages, and ends when its parent does.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import mmap
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Generic, TypeVar

from agent.adapters.allocator import keep_freed_memory
from agent.adapters.pages.page_timeout import PageTimeout
from agent.adapters.pages.wire import FRAME, Failed, frame_of, pages_in, result_of
from agent.adapters.pages.worker_start import Files
from agent.pipeline.messages.pages import Fetched, PageWork

__all__ = [
    "COUNTER_BYTES",
    "IGNORED_SIGNALS",
    "MEMORY_EXIT",
    "ORIGIN_EXIT",
    "Work",
    "files_from_arguments",
    "serve",
]

COUNTER_BYTES: Final = 8
MEMORY_EXIT: Final = 77
"""The exit code of a worker that a page made ask for more memory than it may have."""

ORIGIN_EXIT: Final = 78
"""The exit code of a worker that was not started by a pool."""

READING_S: Final = 0.05  # pages that are read wait no longer than this for slow ones behind them
IGNORED_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Work(Generic[R]):
    """The work on a page in its two halves, both pure.

    read: takes a page, and why it is only archived ("": it is read). finish: takes what that
    returned.
    """

    read: Callable[[Fetched, str], R]
    finish: Callable[[R], PageWork]


def files_from_arguments() -> Files:
    """Return the files that the command line names; ends a program that has none."""
    try:
        files = Files(*map(int, sys.argv[1:]))
        for number in files:
            os.fstat(number)
    except (ValueError, TypeError, OSError):
        print("a page worker is started by an agent, not by hand", file=sys.stderr)
        sys.exit(ORIGIN_EXIT)
    return files


def serve(make: Callable[[dict[str, Any]], Work[Any]], files: Files) -> None:
    """Run a worker process; `make` builds the work from what the pool sends first."""
    # A terminal or a service manager signals the whole group; who ends a worker is its parent.
    for number in IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    counter, sink = mmap.mmap(files.counter, COUNTER_BYTES), files.sink
    with os.fdopen(files.source, "rb", buffering=0) as pages, contextlib.suppress(BrokenPipeError):
        first = _frame(pages)
        if first is None:
            return
        options = marshal.loads(first)  # noqa: S302  # our parent's
        worker = _Worker(
            make(options["work"]), options["cpu_s"], sink, memoryview(counter).cast("Q")
        )
        _limit(options["memory_bytes"])
        worker.send_ready()
        while (payload := _frame(pages)) is not None:
            worker.take(payload)


class _Worker:
    def __init__(self, work: Work[Any], cpu_s: float, sink: int, counter: memoryview) -> None:
        self._work = work
        self._timeout = PageTimeout(cpu_s)
        self._sink = sink
        self._counter = counter
        self._before = 0  # pages of the batches that are done

    def send_ready(self) -> None:
        self._write([frame_of(b"")])

    def take(self, payload: memoryview) -> None:
        """Work on a batch."""
        self._announce(0, time.monotonic())  # the first page answers for what unpacking them costs
        try:
            pages = pages_in(payload)
            done = 0
            while done < len(pages):
                done += self._work_on_slice(pages, done)
        except MemoryError:
            os._exit(MEMORY_EXIT)  # nothing is to be saved, and nothing can be relied on
        self._before += len(pages)

    def _work_on_slice(self, pages: list[tuple[Fetched, str]], first: int) -> int:
        """Read pages and make their records; return how many they were, which slow ones make few.

        first: the index of the first.
        """
        readings: list[Any] = []
        begun_s = now_s = time.monotonic()
        for index in range(first, len(pages)):
            self._announce(index, now_s)
            readings.append(_result_or_failed(self._work.read, *pages[index]))
            now_s = time.monotonic()
            if now_s - begun_s >= READING_S:
                break
        parts: list[bytes] = []
        for index, reading in enumerate(readings, first):
            self._announce(index, now_s)
            failed = isinstance(reading, Failed)
            parts += result_of(reading if failed else _result_or_failed(self._work.finish, reading))
            now_s = time.monotonic()
        self._timeout.stop(now_s)
        self._write([frame_of(*parts, count=len(readings))])
        return len(readings)

    def _announce(self, index: int, now_s: float) -> None:
        """Announce the page that the next half of work is on, and start its time limit."""
        self._counter[0] = self._before + index + 1
        self._timeout.start(now_s)

    def _write(self, parts: list[bytes]) -> None:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(self._sink, rest) :]


def _frame(pages: BinaryIO) -> memoryview | None:
    """Return the payload of the next frame, None where the parent is gone."""
    head = _read_exactly(pages, FRAME.size)
    if head is None:
        return None
    size, _ = FRAME.unpack(head)
    return _read_exactly(pages, size)


def _read_exactly(pages: BinaryIO, size: int) -> memoryview | None:
    buffer = bytearray(size)
    view = memoryview(buffer)
    at = 0
    while at < size:
        count = pages.readinto(view[at:])  # type: ignore[attr-defined]  # unbuffered files have it
        if not count:
            return None
        at += count
    return view


def _limit(memory_bytes: int) -> None:
    """Bound this process, now that all it needs is imported."""
    keep_freed_memory()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)  # a page makes a thousand objects, and no cycles
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
        file.write("500")  # where memory is short for all, rather this process than its parent


def _result_or_failed(half: Callable[..., Any], *given: Any) -> Any:
    """Return what half of the work returns, or Failed where it raised anything but MemoryError."""
    try:
        return half(*given)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # a defect of ours costs one page's links
        return Failed(_defect_note(error))


def _defect_note(error: Exception) -> str:
    """Return what a page's note says of a defect: its kind, and the line of ours that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = type(error).__name__
    if trace is None:
        return f"parse-error: {name}"
    file = os.path.basename(trace.tb_frame.f_code.co_filename)  # noqa: PTH119
    return f"parse-error: {name} at {file}:{trace.tb_lineno}"
