"""Child processes do the reading, and their death is nobody else's."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from manager.errors import BusyError
from manager.intake.workers.worker_process import WorkerProcess
from manager.intake.workers.workers import Workers


def where(_: object) -> tuple[int, bool]:
    """Return the child's process id, and whether it ignores the signals that stop a server."""
    ignored = {signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return os.getpid(), ignored == {signal.SIG_IGN}


def memory_after(_: object) -> tuple[int, str]:
    """Take and free 100 MB in pieces; return what the child keeps of it, and Arrow's pool."""
    pieces = [b"x" * 1024 * 1024 for _ in range(100)]
    del pieces
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    import pyarrow as pa  # noqa: PLC0415  # as a job's module does, when the child is prepared

    return pages * os.sysconf("SC_PAGE_SIZE"), pa.default_memory_pool().backend_name


def refuse(job: str) -> None:
    """Raise an error."""
    raise ValueError(job)


def die(_: object) -> None:
    """End the process as a crash does."""
    os._exit(9)


def run(workers: Workers, *steps: Coroutine[Any, Any, object]) -> None:
    async def all_of_them() -> None:
        try:
            for step in steps:
                await step
        finally:
            workers.close()

    asyncio.run(all_of_them())


Job = TypeVar("Job")
Result = TypeVar("Result")


async def ask(workers: Workers, function: Callable[[Job], Result], job: Job) -> Result:
    return await asyncio.to_thread(workers.run_here, function, job)


@pytest.mark.parametrize("keeps", [True, False])
def test_a_child_may_keep_what_it_freed(keeps: bool) -> None:
    """Who fills megabytes by turns need not have the kernel clear them each time."""
    process = WorkerProcess(None, keep_memory=keeps)
    process.send(memory_after, None, None)
    found = process.result()
    process.close()
    assert isinstance(found, tuple)
    kept_bytes, pool = found
    assert (kept_bytes > 100 * 1024**2) == keeps
    assert (pool == "system") == keeps


def test_a_job_runs_elsewhere() -> None:
    """Jobs run in one other process, which leaves stopping to its parent; errors come back."""
    workers = Workers(1)

    async def check() -> None:
        pid, ignores = await ask(workers, where, None)
        assert pid != os.getpid()
        assert ignores
        with pytest.raises(ValueError, match="bad"):
            await ask(workers, refuse, "bad")
        assert (await ask(workers, where, None))[0] == pid

    run(workers, check())


def test_a_dead_child_is_replaced() -> None:
    """When a child dies its sender is told to come again, and the next job has a new child."""
    workers = Workers(1)

    async def check() -> None:
        pid, _ = await ask(workers, where, None)
        with pytest.raises(BusyError, match="ended unexpectedly") as caught:
            await ask(workers, die, None)
        assert caught.value.retry_after_s > 0
        assert (await ask(workers, where, None))[0] != pid

    run(workers, check())


def test_a_child_that_did_much_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its share of jobs a fresh child takes over, while others wait and while none does."""
    monkeypatch.setattr("manager.intake.workers.workers.JOBS_OF_A_CHILD", 3)
    workers = Workers(1)

    async def check() -> None:
        together = await asyncio.gather(*(ask(workers, where, None) for _ in range(5)))
        alone = [await ask(workers, where, None) for _ in range(3)]
        pids = [pid for pid, _ in [*together, *alone]]
        assert len(pids) == 8
        assert len(set(pids)) == 3
        assert max(pids.count(pid) for pid in pids) == 3

    run(workers, check())


def hold(folder: Path) -> None:
    """Say in a folder that the job has begun, and work until the folder says that it may end."""
    (folder / "begun").touch()
    while not (folder / "end").exists():
        time.sleep(0.01)


def wait_begun(folder: Path) -> None:
    """Wait until a child holds."""
    while not (folder / "begun").exists():
        time.sleep(0.01)


def test_children_may_be_ended_in_the_middle(tmp_path: Path) -> None:
    """Who waits is told, and who comes later."""
    workers = Workers(1)

    async def check() -> None:
        waiting = asyncio.ensure_future(ask(workers, hold, tmp_path))
        await asyncio.to_thread(wait_begun, tmp_path)
        workers.end()
        for job in (waiting, ask(workers, where, None)):
            with pytest.raises(BusyError, match="manager is stopping"):
                await job

    run(workers, check())


def size_of(job: bytes) -> int:
    """Return how large a job is."""
    return len(job)


def stop_with_a_large_job() -> None:
    """End a pool whose child is killed before it has read of a job what fits into no pipe."""
    workers = Workers(1)

    async def check() -> None:
        pid, _ = await ask(workers, where, None)
        os.kill(pid, signal.SIGSTOP)
        waiting = asyncio.ensure_future(ask(workers, size_of, bytes(10_000_000)))
        await asyncio.sleep(0.5)  # the thread that feeds the pipe is there by then, or never
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(BusyError, match="ended unexpectedly"):
            await waiting
        assert await ask(workers, size_of, bytes(10_000_000)) == 10_000_000

    run(workers, check())


def test_a_child_that_dies_before_a_large_job_holds_nobody_up() -> None:
    """The next job has a new child, and the program ends."""
    stop = "from tests.manager.intake import test_workers as t; t.stop_with_a_large_job()"
    done = subprocess.run(
        [sys.executable, "-c", f"{stop}; print('ended')"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == "ended\n"


LARGE: Final = 100_000_000


def answer_and_die(after_s: float) -> bytes:
    """Return what takes some time to be written, and be killed meanwhile."""
    threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return bytes(LARGE)


def answer_in_part() -> None:
    """Ask pools whose children are killed while they answer; print what came of it."""

    async def check(workers: Workers, after_s: float) -> None:
        try:
            assert await ask(workers, answer_and_die, after_s) == bytes(LARGE)
            print("in time")
        except BusyError:
            print("died")
            assert await ask(workers, size_of, b"next") == 4

    for after_s in (0.02, 0.05, 0.1, 0.2):
        workers = Workers(1)
        run(workers, check(workers, after_s))


def test_a_child_that_dies_in_its_answer_holds_nobody_up() -> None:
    """Whenever it is killed, who asked is told, and the next job has a new child."""
    ask = "from tests.manager.intake import test_workers as t; t.answer_in_part()"
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, timeout=120, check=True
    )
    said = done.stdout.split("\n")[:-1]
    assert len(said) == 4
    assert "died" in said


def test_children_at_rest_are_ended(tmp_path: Path) -> None:
    """The next job has a new child; one that works is left alone."""
    workers = Workers(2)

    async def check() -> None:
        at_work = asyncio.ensure_future(ask(workers, hold, tmp_path))
        await asyncio.to_thread(wait_begun, tmp_path)
        pid, _ = await ask(workers, where, None)
        workers.rest()
        assert (await ask(workers, where, None))[0] != pid
        assert not at_work.done()
        (tmp_path / "end").touch()
        await at_work

    run(workers, check())


def test_as_many_jobs_run_at_once_as_there_are_children() -> None:
    """The others wait for a child; after `close` no job is taken."""
    workers = Workers(2)

    async def check() -> None:
        found = await asyncio.gather(*(ask(workers, where, None) for _ in range(8)))
        assert len({pid for pid, _ in found}) <= 2

    run(workers, check())
    with pytest.raises(BusyError, match="manager is stopping"):
        workers.run_here(where, None)
