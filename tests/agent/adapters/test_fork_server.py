"""The process that page workers are forked from.

It is forked from an agent before that has threads. A process of many tests has threads by then, of
pyarrow for instance, and its fork may crash; so each test here runs in an interpreter of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from agent.adapters.pages.fork_server import ForkServer
from agent.adapters.pages.worker_start import Files

OPEN_FILES = Path("/proc/self/fd")
ROOT = Path(__file__).parents[3]


def in_its_own_process(test: Callable[[], None]) -> Callable[[], None]:
    """Make a test run in a new interpreter, and pass where it passes there."""

    @wraps(test)
    def run_apart() -> None:
        program = f"from {__name__} import {test.__name__} as test; test.__wrapped__()"
        outcome = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=ROOT,
        )
        assert outcome.returncode == 0, outcome.stderr

    return run_apart


def tell_files(files: Files) -> None:
    """Be a worker that says which files it has open, and waits for its end."""
    names = {one.name: str(one.readlink()) for one in OPEN_FILES.iterdir() if one.exists()}
    os.write(files.sink, json.dumps({"pid": os.getpid(), "files": names}).encode())
    if os.read(files.source, 1) == b"e":
        os._exit(5)
    signal.pause()


@contextmanager
def open_fork_server() -> Iterator[ForkServer]:
    opened = ForkServer.open(lambda: tell_files)
    try:
        yield opened
    finally:
        opened.close()


class Pipes:
    """What a worker is given, and the other ends of it."""

    def __init__(self) -> None:
        source, self.down = os.pipe()
        self.up, sink = os.pipe()
        self.files = Files(source, sink, os.open(os.devnull, os.O_RDWR))

    def told(self) -> dict[str, object]:
        for number in self.files:
            os.close(number)
        value: dict[str, object] = json.loads(os.read(self.up, 4096))
        return value


@in_its_own_process
def test_a_worker_has_its_own_files_and_nothing_else_of_the_agent() -> None:
    """Its standard error it may have: a defect says itself there."""
    with TemporaryFile(), open_fork_server() as fork_server, TemporaryFile():
        pipes = Pipes()
        worker = fork_server.launch(pipes.files)
        told = pipes.told()
        files = told["files"]
        assert isinstance(files, dict)
        assert told["pid"] == worker.pid
        assert len(files) == 3 + len(Files._fields)
        assert files["0"] == files["1"] == os.devnull
        assert worker.wait() == -signal.SIGKILL


@in_its_own_process
def test_how_a_worker_ended_is_known() -> None:
    """Whether by itself or by a signal."""
    with open_fork_server() as fork_server:
        pipes = Pipes()
        worker = fork_server.launch(pipes.files)
        pipes.told()
        os.write(pipes.down, b"e")
        assert os.read(pipes.up, 1) == b""  # it has ended, or is about to
        while Path(f"/proc/{worker.pid}/stat").read_text().split()[2] != "Z":
            os.sched_yield()
        worker.kill()
        assert worker.wait() == 5
        assert worker.wait() == 5


@in_its_own_process
def test_a_fork_server_that_was_killed_refuses() -> None:
    """Its worker can still be ended, and nobody waits for an answer."""
    with open_fork_server() as fork_server:
        pipes = Pipes()
        worker = fork_server.launch(pipes.files)
        pipes.told()
        os.kill(fork_server._pid, signal.SIGKILL)
        more = Pipes()
        with pytest.raises(OSError, match=r"ended|Broken pipe|reset"):
            fork_server.launch(more.files)
        assert not fork_server.is_open
        assert worker.wait() == -signal.SIGKILL
        assert os.read(pipes.up, 1) == b""


def test_a_fork_server_ends_with_its_agent() -> None:
    """Also after kill -9: whoever reads its standard error comes to an end."""
    program = (
        "import os, signal; from agent.adapters.pages.fork_server import ForkServer;"
        "ForkServer.open(lambda: print); os.kill(os.getpid(), signal.SIGKILL)"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )
    assert outcome.returncode == -signal.SIGKILL
    assert outcome.stderr == b""
