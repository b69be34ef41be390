"""Has pages worked on in worker processes, which one of them may kill and none may hold up.

Pages wait here for company: a batch costs one write, one read and one waking on either side,
whatever its length. A worker gets a batch while it works on another. There is one worker as long
as it keeps up: it costs less than two that wait for each other's core. One more is started when
all have had their hands full for a second.

A worker that ends under a page (too much CPU time or memory, a crash, silence) is replaced. That
page is sent again to be archived only, with a note that says why, and the others unchanged. A
worker that another party ended, as the system does where memory is short, is no evidence: its page
gets one more reading. One that writes what no sound worker writes may have been spoilt by any of
its pages: they are sent again one by one. When even archiving a page kills a worker, this process
archives it.

Invariant: each page that is started is done once, or the process ends. At most `MAX_SENT_BYTES`
of pages are with the workers, and one page each; beyond `CROWD_BYTES` that wait, `crowded` asks
for a pause in fetching.
"""

from __future__ import annotations

import asyncio
import marshal
import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from agent.adapters.body_memory import BodyMemory
from agent.adapters.pages.process import LOST, PARSE_CRASH, PARSE_TIMEOUT, Task, WorkerProcess
from agent.adapters.pages.suspects import SET_ASIDE, Suspects
from agent.adapters.pages.wire import Failed
from agent.adapters.pages.worker_start import Launch
from agent.pipeline.messages.pages import Fetched, PageWork
from shared.frozen import frozen

__all__ = ["WorkerOptions", "WorkerPages"]

BATCH: Final = 32  # pages; beyond it a page gains less than a microsecond
BATCH_BYTES: Final = 512 * 1024
LINGER_S: Final = 0.025  # no part waits for a page: its address rests for seconds
AHEAD: Final = 2 * BATCH  # pages that one worker has at most
MAX_SENT_BYTES: Final = 32_000_000
CROWD_BYTES: Final = 64_000_000
BEHIND_S: Final = 1.0  # after a moment of many pages one worker catches up
BEATS: Final = 30  # looks at a silent worker before it is taken for hanging
STARTING_S: Final = 60.0
LONGEST_PAUSE_S: Final = 60.0
_LOSSES: Final = 2


@frozen
class WorkerOptions:
    """Limits of a page, and the number of processes that work on pages."""

    workers: int = 2
    cpu_s: float = 2.0
    """CPU seconds to read one page, and as many to make its record."""

    memory_bytes: int = 512_000_000
    """Address space of a worker, its program included."""

    silence_s: float = 30.0
    """Seconds on one page, by any clock, after which a worker hangs."""


class WorkerPages:
    """Fulfils `agent.pipeline.ports.PageWorker` with processes. Make it inside a loop."""

    def __init__(
        self,
        options: WorkerOptions,
        launch: Launch,
        work_options: Mapping[str, Any],
        archive: Callable[[Fetched, str], PageWork],
        remark: Callable[[str, str], None],
        memory: BodyMemory | None = None,
    ) -> None:
        """Make ready; the first worker is started by `begin`, or for the first page.

        launch: starts a process that calls `child.serve`; work_options: of its work.
        archive: does a page's work here, when no worker survives it. remark: takes (what went
        wrong, an example), for the status. memory: counts pages until they are done; None:
        nowhere else.
        """
        self._options = options
        self._launch = launch
        self._work_options = marshal.dumps(
            {
                "cpu_s": options.cpu_s,
                "memory_bytes": options.memory_bytes,
                "work": dict(work_options),
            }
        )
        self._archive = archive
        self._remark = remark
        self._memory = BodyMemory() if memory is None else memory
        self._loop = asyncio.get_running_loop()
        self._suspects = Suspects()
        self._waiting: deque[Task] = deque()
        self._waiting_bytes = 0
        self._workers: list[WorkerProcess] = []
        self._linger: asyncio.TimerHandle | None = None
        self._beat: asyncio.TimerHandle | None = None
        self._pause: asyncio.TimerHandle | None = None  # before the next attempt to start one
        self._failed_starts = 0
        self._full_since_s = math.inf  # all workers have had their hands full since
        self._beat_s = options.silence_s / BEATS
        self._closed = False
        self._defect: Exception | None = None
        self.replaced = 0  # workers that ended under a page

    @property
    def crowded(self) -> bool:
        """Return whether so much waits that nothing more should be fetched.

        Raises what archiving a page raised, which is a defect of ours.
        """
        if self._defect is not None:
            raise self._defect
        return self._waiting_bytes > CROWD_BYTES

    @property
    def workers(self) -> list[int]:
        """The numbers of the worker processes."""
        return [worker.pid for worker in self._workers]

    @property
    def sent_bytes(self) -> int:
        """Bytes of the pages that are with the workers."""
        return sum(worker.sent_bytes for worker in self._workers)

    def begin(self) -> None:
        """Start the first worker, where there is none: pages are going to come."""
        if not self._workers:
            self._start_worker()

    def start(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        """Take a page; `done` is called once, later, on the loop's thread."""
        task = Task(page, done)
        if self._suspects.set_aside(page.host) and not page.is_rules:
            task.unread = SET_ASIDE
            self._remark("pages archived unread: their host's pages stopped the parser", page.url)
        self._memory.sum += task.size_bytes
        self._memory.waiting += task.size_bytes
        waited = len(self._waiting)
        before = waited >= BATCH or self._waiting_bytes >= BATCH_BYTES
        self._waiting.append(task)
        self._waiting_bytes += task.size_bytes
        if waited + 1 >= BATCH or self._waiting_bytes >= BATCH_BYTES:
            # Once there is a batch that no worker takes, results bring us back here; the look for
            # workers that are behind need not be for each page.
            if not before or not waited % BATCH:
                self._dispatch()
        elif self._linger is None:
            self._linger = self._loop.call_later(LINGER_S, self._dispatch)

    def close(self) -> None:
        """End all workers; pages that are with them are not done."""
        self._closed = True
        for timer in (self._linger, self._beat, self._pause):
            if timer is not None:
                timer.cancel()
        for worker in self._workers:
            worker.close()
        self._workers.clear()
        self._waiting.clear()

    def _dispatch(self) -> None:
        """Give the waiting pages to the workers that have the least to do."""
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        while self._waiting:
            worker = min(self._workers, key=lambda one: len(one.tasks), default=None)
            if worker is None or self._is_behind(worker):
                self._start_worker()
                worker = min(self._workers, key=lambda one: len(one.tasks), default=None)
            if worker is None or len(worker.tasks) > AHEAD - BATCH:
                return
            if worker.tasks and (worker.tasks[-1].alone or self._waiting[0].alone):
                return
            if worker.tasks and self.sent_bytes + self._waiting[0].size_bytes > MAX_SENT_BYTES:
                return
            worker.send(self._take_batch())
        if self._beat is None:
            self._beat = self._loop.call_later(self._beat_s, self._check_workers)

    def _is_behind(self, least_busy: WorkerProcess) -> bool:
        """Return whether pages have waited for all workers for long enough to start another."""
        if not least_busy.ready or len(least_busy.tasks) < BATCH:
            self._full_since_s = math.inf
            return False
        now_s = self._loop.time()
        self._full_since_s = min(self._full_since_s, now_s)
        return now_s - self._full_since_s >= BEHIND_S

    def _take_batch(self) -> list[Task]:
        waiting = self._waiting
        batch = [waiting.popleft()]
        size = batch[0].size_bytes
        while (
            waiting
            and len(batch) < BATCH
            and size + waiting[0].size_bytes <= BATCH_BYTES
            and not (batch[0].alone or waiting[0].alone)
        ):
            batch.append(waiting.popleft())
            size += batch[-1].size_bytes
        self._waiting_bytes -= size
        return batch

    def _start_worker(self) -> None:
        if len(self._workers) >= self._options.workers or self._pause is not None:
            return
        try:
            worker = WorkerProcess(
                self._launch, self._work_options, answered=self._take_results, ended=self._replace
            )
        except OSError as error:
            self._retry_start_later(str(error))
            return
        self._workers.append(worker)
        if self._beat is None:
            self._beat = self._loop.call_later(self._beat_s, self._check_workers)

    def _retry_start_later(self, reason: str) -> None:
        """Wait before the next attempt to start a worker, longer each time."""
        self._remark("page workers that could not be started", reason)
        if self._pause is not None:
            return
        pause_s = min(LONGEST_PAUSE_S, 2.0**self._failed_starts / 2)
        self._failed_starts += 1

        def again() -> None:
            """Start a worker after the pause."""
            self._pause = None
            self._start_worker()
            self._dispatch()

        self._pause = self._loop.call_later(pause_s, again)

    def _take_results(
        self, worker: WorkerProcess, results: list[tuple[Task, PageWork | Failed]]
    ) -> None:
        self._failed_starts = 0
        for task, work in results:
            if isinstance(work, Failed):
                self._archive_unread(task, work.reason)
            else:
                self._deliver(task, work)
        if self._waiting:
            self._dispatch()

    def _replace(self, worker: WorkerProcess) -> None:
        """Replace a worker that ended; the page it was at answers for it."""
        self._workers.remove(worker)
        guilty = worker.current
        if worker.garbled and len(worker.tasks) > 1:
            guilty = None
            for task in worker.tasks:
                task.alone = True
        if not worker.ready:
            guilty = None
            self._retry_start_later(f"{worker.exit_text()} before it was ready")
        elif guilty is None and worker.failure_reason() == LOST:
            self._retry_start_later(worker.exit_text())
        left = [task for task in worker.tasks if task is not guilty]
        self._waiting.extendleft(reversed(left))
        self._waiting_bytes += sum(task.size_bytes for task in left)
        if guilty is not None:
            self.replaced += 1
            self._judge(guilty, worker)
        self._dispatch()

    def _judge(self, guilty: Task, worker: WorkerProcess) -> None:
        reason = worker.failure_reason()
        if reason == LOST:
            guilty.losses += 1
            if guilty.losses < _LOSSES:
                self._remark("page workers lost", f"{worker.exit_text()} at {guilty.page.url}")
                self._requeue(guilty)
                return
            reason = PARSE_CRASH
        host = guilty.page.host
        if not guilty.unread and self._suspects.note(host):
            self._remark("hosts whose pages are no longer read", host)
        self._archive_unread(guilty, reason)

    def _archive_unread(self, task: Task, reason: str) -> None:
        """Archive a page that could not be read, as it came."""
        if task.unread:
            try:
                work = self._archive(task.page, task.unread)
            except Exception as error:  # noqa: BLE001  # `crowded` raises it
                self._defect = error
            else:
                self._deliver(task, work)
            return
        self._remark(f"pages not read: {reason}", task.page.url)
        task.unread = reason
        self._requeue(task)

    def _deliver(self, task: Task, work: PageWork) -> None:
        self._memory.sum -= task.size_bytes
        self._memory.waiting -= task.size_bytes
        task.done(work)

    def _requeue(self, task: Task) -> None:
        self._waiting.appendleft(task)
        self._waiting_bytes += task.size_bytes
        if self._linger is None and not self._closed:
            self._linger = self._loop.call_later(LINGER_S, self._dispatch)

    def _check_workers(self) -> None:
        """Kill workers that get nowhere; counted in looks, so that our own sleep is not theirs."""
        self._beat = None
        busy = False
        for worker in tuple(self._workers):
            beats = worker.beat()
            if beats >= (BEATS if worker.ready else max(BEATS, STARTING_S / self._beat_s)):
                worker.kill(PARSE_TIMEOUT)
            busy = busy or bool(worker.tasks) or not worker.ready
        if busy:
            self._beat = self._loop.call_later(self._beat_s, self._check_workers)
