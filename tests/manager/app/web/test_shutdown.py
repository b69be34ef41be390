"""A manager ends within its time, whatever still runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, logging, os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from manager.app.web.shutdown import Shutdown
from manager.intake.workers.workers import Workers

logging.basicConfig()
ended = []
shutdown = Shutdown({stop_s}, [lambda: ended.append(1) or os.write(1, b"ended\\n")])
told = threading.Semaphore(0)

def hash_for_ever():
    while True:
        sum(range(1000))

with shutdown.on_signals(told.release):
    {work}
    os.write(1, b"ready\\n")
    for _ in range({signals}):
        told.acquire()
        os.write(1, b"told\\n")
{after}
"""


def run(work: str, after: str = "", stop_s: float = 0.2, signals: int = 1) -> tuple[int, str, str]:
    """Return the exit code, standard output and error of a program that is told to stop."""
    program = PROGRAM.format(work=work, after=after, stop_s=stop_s, signals=signals)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            assert process.stderr is not None
            others: list[str] = []  # children may be ended before the second signal is told
            for _ in range(signals):
                process.send_signal(signal.SIGTERM)
                while (line := process.stdout.readline()) != "told\n":
                    assert line, "it ended without having told"
                    others.append(line)
            # `communicate` would lose what `readline` has read already.
            out = "".join([*others, process.stdout.read()])
            said = process.stderr.read()
            return process.wait(60), out, said
        finally:
            process.kill()


def test_nothing_is_said_where_all_ends_in_time() -> None:
    """The exit code is that of the program, and children are left to it."""
    assert run("pass", "sys.exit(3)", stop_s=60) == (3, "", "")


@pytest.mark.parametrize(
    "work",
    [
        "threading.Thread(target=hash_for_ever, name='digest').start()",
        "ThreadPoolExecutor(1, thread_name_prefix='digest').submit(hash_for_ever)",
    ],
)
def test_what_cannot_be_cancelled_ends_with_the_process(work: str) -> None:
    """A thread that never ends is named in the log; children are ended before."""
    code, out, said = run(work)
    assert (code, out) == (0, "ended\n")
    assert "0.2 s are over (server.stop_s)" in said
    assert "digest" in said
    assert "hash_for_ever" in said


def test_the_main_thread_may_be_held_up() -> None:
    """The process ends also where its own clean-up would take for ever."""
    code, out, said = run("pass", "time.sleep(600)")
    assert (code, out) == (0, "ended\n")
    assert "server.stop_s" in said


def test_the_kernel_ends_what_python_cannot() -> None:
    """Where no thread of Python gets its turn, the timer ends the process."""
    code, _, _ = run("pass", "ctypes.PyDLL(None).sleep(600)")
    assert code == -signal.SIGALRM


def test_a_second_signal_does_not_wait() -> None:
    """Children are ended at once, however long `server.stop_s` is."""
    code, out, _ = run("pass", "time.sleep(600)", stop_s=600, signals=2)
    assert (code, out) == (0, "ended\n")


def test_children_that_are_left_are_killed(tmp_path: Path) -> None:
    """A child that ignores signals does not outlive its parent."""
    target = tmp_path / "pid"
    work = (
        "workers = Workers(1); "
        f"from {note_pid.__module__} import note_pid; "
        f"workers.run_here(note_pid, {str(target)!r})"
    )
    assert run(work, "time.sleep(600)")[0] == 0
    with pytest.raises(ProcessLookupError):
        for _ in range(1000):
            os.kill(int(target.read_text()), 0)
            subprocess.run(["sleep", "0.01"], check=True)  # it is being ended


def note_pid(path: str) -> None:
    """Write down the process that this is."""
    Path(path).write_text(str(os.getpid()))
