"""Bodies are read in turns by sender, within limits, and no longer than somebody waits for it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from manager.errors import BusyError
from manager.intake.body_errors import BodyLimitError
from manager.intake.workers.body_job import BodyJob
from manager.intake.workers.body_workers import REST_LOOKS, BodyWorkers, Pool
from shared.errors import Fault, LineError
from shared.frozen import frozen

HELD_S = 60.0


@frozen
class Job(BodyJob):
    """A job of a sender. path: where it writes down that it began. value: for its function."""

    path: Path
    value: float
    takes_long: bool

    cpu_setting = "intake.host_list_cpu_s"

    @property
    def is_long(self) -> bool:
        return self.takes_long


def job_of(
    sender: int,
    path: Path = Path(),
    value: float = 0.0,
    cpu_s: float = 60.0,
    takes_long: bool = False,
) -> Job:
    return Job(path, value, takes_long, sender=sender, cpu_s=cpu_s)


def note(job: Job) -> int:
    """Write down that it began, and whose it is; return the process."""
    with job.path.open("a") as file:
        file.write(f"{job.sender}\n")
    return os.getpid()


def hold(job: Job) -> int:
    """Write down that it began, and do what takes long."""
    note(job)
    time.sleep(HELD_S)
    return os.getpid()


def hold_until_there(job: Job) -> int:
    """Return when a file is there."""
    while not job.path.exists():
        time.sleep(0.01)
    return os.getpid()


def compute(job: Job) -> None:
    """Take all of a processor."""
    while True:
        pass


def take_memory(job: Job) -> int:
    """Take so many bytes."""
    return len(bytearray(round(job.value)))


def die(job: Job) -> None:
    """End the process as a crash does."""
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(job: Job) -> None:
    """Raise an error that says a line."""
    raise LineError(7, "bad", Fault.LONG_LINE)


def run(pool: Pool, steps: Callable[[BodyWorkers], Awaitable[None]]) -> None:
    """Do some steps with workers that are closed behind them."""
    workers = BodyWorkers(pool)

    async def all_of_them() -> None:
        try:
            await steps(workers)
        finally:
            workers.close()

    asyncio.run(all_of_them())


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110  # other threads change it
            await asyncio.sleep(0.01)


def test_a_job_is_done_by_another_process(tmp_path: Path) -> None:
    """One process does one job after the other; errors come back as they are."""

    async def steps(workers: BodyWorkers) -> None:
        pid = await workers.run(note, job_of(1, tmp_path / "began"))
        assert pid != os.getpid()
        with pytest.raises(LineError) as caught:
            await workers.run(refuse, job_of(1))
        assert (caught.value.line, caught.value.code) == (7, Fault.LONG_LINE)
        assert await workers.run(note, job_of(2, tmp_path / "began")) == pid

    run(Pool(), steps)


def test_a_first_job_is_done_before_the_many_of_another_sender(tmp_path: Path) -> None:
    """Sixteen jobs wait; the first one of who comes later is the next to be done."""
    began = tmp_path / "began"

    async def steps(workers: BodyWorkers) -> None:
        gate = tmp_path / "gate"
        first = asyncio.ensure_future(workers.run(hold_until_there, job_of(1, gate)))
        await until(lambda: workers.running == 1)
        many = [asyncio.ensure_future(workers.run(note, job_of(1, began))) for _ in range(16)]
        await until(lambda: workers.waiting == 16)
        other = asyncio.ensure_future(workers.run(note, job_of(2, began)))
        await until(lambda: workers.waiting == 17)
        gate.touch()
        await asyncio.gather(first, other, *many)
        assert began.read_text().splitlines().index("2") <= 1

    run(Pool(time_slice_s=HELD_S), steps)


def test_a_long_job_lets_others_go_first(tmp_path: Path) -> None:
    """A job that is over its turn goes on beside the others, and after many at a low priority.

    A process whose priority was lowered goes when its job is done.
    """

    async def steps(workers: BodyWorkers) -> None:
        gate = tmp_path / "gate"
        long = asyncio.ensure_future(workers.run(hold_until_there, job_of(1, gate)))
        await until(lambda: workers.running == 1)
        pids = {await workers.run(note, job_of(sender, tmp_path / "began")) for sender in (2, 3)}
        assert not long.done()
        (process,) = [task.process for task in workers._running]
        assert process is not None
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        await until(lambda: os.getpriority(os.PRIO_PROCESS, process.pid) > ours)
        gate.touch()
        assert await long not in pids
        assert process not in workers._idle

    run(Pool(time_slice_s=0.1), steps)


def test_processes_that_have_no_jobs_go(tmp_path: Path) -> None:
    """One is kept for the next job; those that long jobs needed besides are ended."""

    async def steps(workers: BodyWorkers) -> None:
        gate = tmp_path / "gate"
        long = asyncio.ensure_future(workers.run(hold_until_there, job_of(1, gate)))
        await until(lambda: workers.running == 1)
        await workers.run(note, job_of(2, tmp_path / "began"))
        gate.touch()
        await long
        for _ in range(REST_LOOKS + 1):
            assert len(workers._idle) >= 2
            workers.begin()
        assert len(workers._idle) == 1

    run(Pool(time_slice_s=1), steps)


def test_a_long_job_that_has_no_place_begins_again(tmp_path: Path) -> None:
    """Where all places for long jobs are taken it is ended, others go first, and it is done."""
    began, gate = tmp_path / "began", tmp_path / "gate"

    async def steps(workers: BodyWorkers) -> None:
        long = asyncio.ensure_future(
            workers.run(hold_until_there, job_of(1, gate, takes_long=True))
        )
        second = asyncio.ensure_future(workers.run(hold_until_there, job_of(2, gate)))
        await until(lambda: workers.running == 2)
        assert await workers.run(note, job_of(3, began)) != os.getpid()
        assert (workers.running, workers.waiting) == (1, 1)
        gate.touch()
        await asyncio.gather(long, second)

    run(Pool(long_processes=1, time_slice_s=0.1), steps)


def test_a_job_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    """In the middle its process is killed; in the queue it never begins."""
    began = tmp_path / "began"

    async def steps(workers: BodyWorkers) -> None:
        running = asyncio.ensure_future(workers.run(hold, job_of(1, began)))
        await until(began.exists)
        queued = asyncio.ensure_future(workers.run(note, job_of(2, began)))
        await until(lambda: workers.waiting == 1)
        for one in (queued, running):
            one.cancel()
        await asyncio.gather(queued, running, return_exceptions=True)
        await until(lambda: workers.running == 0)
        assert workers.waiting == 0
        await workers.run(note, job_of(3, began))
        assert began.read_text().splitlines() == ["1", "3"]

    run(Pool(time_slice_s=HELD_S), steps)


@pytest.mark.parametrize(
    ("function", "job", "code", "setting"),
    [
        (compute, job_of(1, cpu_s=-4), Fault.CPU_LIMIT, "intake.host_list_cpu_s"),
        (take_memory, job_of(1, value=4e9), Fault.MEMORY_LIMIT, "intake.worker_memory_bytes"),
    ],
)
def test_what_takes_too_much_is_refused(
    tmp_path: Path, function: Callable[[Job], object], job: Job, code: Fault, setting: str
) -> None:
    """Its sender is told the limit and the setting; the next job has a new process."""

    async def steps(workers: BodyWorkers) -> None:
        pid = await workers.run(note, job_of(1, tmp_path / "began"))
        with pytest.raises(BodyLimitError) as caught:
            await workers.run(function, job)
        assert (caught.value.code, caught.value.setting) == (code, setting)
        assert setting in str(caught.value)
        assert "smaller parts" in str(caught.value)
        assert await workers.run(note, job_of(1, tmp_path / "began")) != pid

    run(Pool(memory_bytes=500_000_000), steps)


def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    """Who waited is told to come again; who comes next is served."""

    async def steps(workers: BodyWorkers) -> None:
        with pytest.raises(BusyError, match="ended unexpectedly") as caught:
            await workers.run(die, job_of(1))
        assert caught.value.retry_after_s > 0
        assert await workers.run(note, job_of(1, tmp_path / "began")) != os.getpid()

    run(Pool(), steps)


def test_all_may_be_ended_in_the_middle(tmp_path: Path) -> None:
    """Who waits is told that the manager stops, and who comes later."""
    began = tmp_path / "began"

    async def steps(workers: BodyWorkers) -> None:
        jobs = [asyncio.ensure_future(workers.run(hold, job_of(one, began))) for one in range(3)]
        await until(began.exists)
        workers.end()
        for job in (*jobs, workers.run(note, job_of(4, began))):
            with pytest.raises(BusyError, match="manager is stopping"):
                await job

    run(Pool(time_slice_s=HELD_S), steps)


def test_a_process_is_there_before_the_first_job(tmp_path: Path) -> None:
    """It is begun once, with what it needs imported, and takes the job."""

    async def steps(workers: BodyWorkers) -> None:
        workers.begin()
        (idle,) = workers._idle
        workers.begin()
        assert await workers.run(note, job_of(1, tmp_path / "began")) == idle.pid

    run(Pool(modules=("wave",)), steps)
