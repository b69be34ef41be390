"""One worker process as its parent sees it: started, fed, read, watched, and how it ended.

Two pipes and eight shared bytes: pages go down, results come up, and the counter says which page
it is at, counted since its start. Nothing here waits: what a full pipe does not take is written
when it can be.

Invariant: results are given in the order of the pages sent; `ended` is called once, after the last
result that was whole, with the pages that have none.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import mmap
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from agent.adapters.pages.child import COUNTER_BYTES, MEMORY_EXIT
from agent.adapters.pages.wire import (
    FRAME,
    MAX_FRAME_BYTES,
    Failed,
    batch_of,
    frame_of,
    results_in,
)
from agent.adapters.pages.worker_start import Files, Launch
from agent.pipeline.messages.pages import Fetched, PageWork
from shared.errors import FormatError

__all__ = ["LOST", "PARSE_CRASH", "PARSE_MEMORY", "PARSE_TIMEOUT", "Task", "WorkerProcess"]

PARSE_TIMEOUT: Final = "parse-timeout"
PARSE_MEMORY: Final = "parse-memory"
PARSE_CRASH: Final = "parse-crash"
LOST: Final = "lost"
"""Ended by another party, as by the system where memory is short: no fault of its page."""

PIPE_BYTES: Final = 1 << 20  # what Linux lets anybody have
READ_BYTES: Final = 1 << 20
MAX_PARTS: Final = 512  # of one write; Linux takes 1,024

_CRASHES: Final = frozenset(
    (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGSYS)
)


class Task:
    """A page on its way, until its work is handed on."""

    __slots__ = ("alone", "done", "losses", "page", "size_bytes", "unread")

    def __init__(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        self.page = page
        self.done = done
        capture = page.capture
        self.size_bytes = (
            len(capture.body) + len(capture.response_header) + len(capture.request) + 1024
        )
        self.unread = ""  # why it is only archived
        self.losses = 0  # workers that ended under it by no limit
        self.alone = False  # whether a worker gets it and no other, to find out what it does


class WorkerProcess:
    """Made inside a running event loop."""

    def __init__(
        self,
        launch: Launch,
        options: bytes,
        *,
        answered: Callable[[WorkerProcess, list[tuple[Task, PageWork | Failed]]], None],
        ended: Callable[[WorkerProcess], None],
    ) -> None:
        """Start the process. Raises OSError where the system allows no more.

        options: its start data, marshalled. answered: takes results as they come. ended: is called
        when the process is gone.
        """
        self._answered = answered
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self.tasks: deque[Task] = deque()  # that were sent and have no result yet, in order
        self._unsent: deque[memoryview] = deque()
        self._received = bytearray()
        self._results = 0  # since the start
        self._gone = False
        self._code = 0  # of its end
        self.garbled = ""  # why its results cannot be believed
        self.killed_for = ""  # by us, and why
        self.ready = False
        self.sent_bytes = 0  # of the pages that have no result yet
        self.silent_beats = 0
        self._progress: tuple[bytes, int, bool] = (b"", 0, False)  # when it was last looked at
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            shared = os.memfd_create("page-counter")
            theirs.callback(os.close, shared)
            os.ftruncate(shared, COUNTER_BYTES)
            self._counter = mmap.mmap(shared, COUNTER_BYTES)
            source, self._pages = os.pipe()
            theirs.callback(os.close, source)
            ours.callback(os.close, self._pages)
            self._answers, sink = os.pipe()
            theirs.callback(os.close, sink)
            ours.callback(os.close, self._answers)
            for end in (self._pages, self._answers):
                os.set_blocking(end, False)
                with contextlib.suppress(OSError):  # the system's own size will do
                    fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            self._process = launch(Files(source, sink, shared))
            ours.pop_all()
        self._loop.add_reader(self._answers, self._read)
        self._write([frame_of(options)])

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def current(self) -> Task | None:
        """The page that the process is at and has not answered."""
        number = int.from_bytes(self._counter[:COUNTER_BYTES], "little")
        index = number - self._results - 1
        return self.tasks[index] if 0 <= index < len(self.tasks) else None

    def send(self, tasks: Sequence[Task]) -> None:
        """Hand over a batch."""
        self.tasks.extend(tasks)
        self.sent_bytes += sum(task.size_bytes for task in tasks)
        self._write(batch_of([(task.page, task.unread) for task in tasks]))

    def beat(self) -> int:
        """Return how many times in a row this was asked while the process got nowhere."""
        progress = (self._counter[:COUNTER_BYTES], self._results, self.ready)
        if progress != self._progress or (self.ready and not self.tasks):
            self.silent_beats = 0
        else:
            self.silent_beats += 1
        self._progress = progress
        return self.silent_beats

    def kill(self, reason: str) -> None:
        """End the process; `ended` follows."""
        self.killed_for = reason
        self._process.kill()

    def close(self) -> None:
        """End the process and let go of it; nothing follows."""
        if not self._gone:
            self._close_files()

    def failure_reason(self) -> str:
        """Return the note on the page that the process was at; `LOST`: the page may be innocent."""
        code = self._code
        if self.killed_for:
            return self.killed_for
        if code == -signal.SIGPROF:
            return PARSE_TIMEOUT
        if code == MEMORY_EXIT:
            return PARSE_MEMORY
        return PARSE_CRASH if -code in _CRASHES or self.garbled else LOST

    def exit_text(self) -> str:
        """Return the signal or exit code of the process, or what it garbled, for a person."""
        code = self._code
        if self.garbled:
            return self.garbled
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _write(self, parts: Sequence[bytes]) -> None:
        waits = bool(self._unsent)
        self._unsent.extend(map(memoryview, parts))
        if not waits and not self._flush():
            self._loop.add_writer(self._pages, self._writable)

    def _writable(self) -> None:
        if self._flush():
            self._loop.remove_writer(self._pages)

    def _flush(self) -> bool:
        """Write what the pipe takes; tell whether that was all."""
        unsent = self._unsent
        while unsent:
            try:
                count = os.writev(self._pages, [*islice(unsent, MAX_PARTS)])
            except BlockingIOError:
                return False
            except BrokenPipeError:  # it has ended; its end is read in a moment
                unsent.clear()
                return True
            while unsent and count >= len(unsent[0]):
                count -= len(unsent.popleft())
            if count:
                unsent[0] = unsent[0][count:]
                return False
        return True

    def _read(self) -> None:
        try:
            data = os.read(self._answers, READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._close_files()
            self._ended(self)
            return
        self._received += data
        try:
            results = self._take_frames()
        except FormatError as error:
            self.garbled = f"what it wrote is damaged: {error}"
            self._close_files()
            self._ended(self)
            return
        if results:
            self._answered(self, results)

    def _take_frames(self) -> list[tuple[Task, PageWork | Failed]]:
        received, at = self._received, 0
        results: list[tuple[Task, PageWork | Failed]] = []
        tasks = self.tasks
        with memoryview(received) as view:
            while len(received) - at >= FRAME.size:
                size, count = FRAME.unpack_from(received, at)
                if size > MAX_FRAME_BYTES or count > len(tasks):
                    raise FormatError(
                        "agent_errors.page_results_frame",
                        count=count,
                        size_bytes=size,
                        expected=len(tasks),
                    )
                end = at + FRAME.size + size
                if end > len(received):
                    break
                self.ready = True
                answered = [tasks[index] for index in range(count)]
                with view[at + FRAME.size : end] as payload:
                    works = results_in(payload, [task.page for task in answered])
                for task, work in zip(answered, works, strict=True):
                    tasks.popleft()
                    self.sent_bytes -= task.size_bytes
                    results.append((task, work))
                self._results += count
                at = end
        del received[:at]
        return results

    def _close_files(self) -> None:
        self._gone = True
        self._loop.remove_reader(self._answers)
        self._loop.remove_writer(self._pages)
        self._process.kill()
        self._code = self._process.wait()
        os.close(self._answers)
        os.close(self._pages)
        self._unsent.clear()
