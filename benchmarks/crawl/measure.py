"""Cost of a command with all its children: CPU time, memory, duration.

    python -m benchmarks.crawl.measure OUT.json SECONDS COMMAND...

This process adopts orphans (PR_SET_CHILD_SUBREAPER) and waits for the last of them, so that no
process escapes the count. Invariant: its own CPU time, which samples memory, is not in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

__all__ = ["Cost", "measure"]

SAMPLE_S: Final = 0.2
LOOP_EVERY_S: Final = 0.5
_PR_SET_CHILD_SUBREAPER: Final = 36
_PAGE_BYTES: Final = resource.getpagesize()


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a command and all its processes; `peak_bytes` resident, shared ones counted each time.

    loop_ms: of CPU time that a fixed loop took meanwhile, on the average: how slow the machine was.
    busiest_cpu_s, busiest_waited_s: CPU time of the main thread of the busiest process, and how
    long it could have run but waited for a processor, by the last sample.
    """

    status: int
    cpu_s: float
    wall_s: float
    peak_bytes: int
    loop_ms: float
    busiest_cpu_s: float = 0.0
    busiest_waited_s: float = 0.0


def measure(words: list[str], seconds: float, scratch: Path, **environment: str) -> Cost:
    """Run a command in a separate measuring process; it is ended after `seconds`.

    What it prints is appended to `scratch/output.txt`.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    out = scratch / "cost.json"
    with (scratch / "output.txt").open("ab") as output:
        subprocess.run(
            [sys.executable, "-m", __name__, str(out), str(seconds), *words],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=os.environ | environment,
        )
    return Cost(**json.loads(out.read_text()))


def _run(out: Path, seconds: float, words: list[str]) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    peak, ended = _Peak(), threading.Event()
    loops: list[float] = []
    begun_s = time.monotonic()
    process = subprocess.Popen(words)

    def watch() -> None:
        while not ended.wait(SAMPLE_S):
            peak.look()
            if time.monotonic() - begun_s >= LOOP_EVERY_S * len(loops):
                loops.append(_loop_ms())
            if time.monotonic() - begun_s > seconds:
                for child in _descendants(os.getpid()):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(child, signal.SIGKILL)

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = process.wait()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    wall_s = time.monotonic() - begun_s
    ended.set()
    watcher.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    loop_ms = sum(loops) / max(1, len(loops))
    cost = Cost(status, used.ru_utime + used.ru_stime, wall_s, peak.bytes, loop_ms, *peak.busiest())
    out.write_text(json.dumps(asdict(cost)))


def _loop_ms() -> float:
    """Return how long a loop takes that is always the same: some 4 ms."""
    begun_s, total, table = time.thread_time(), 0, {}
    for number in range(60_000):
        total += number * number % 7
        table[number & 1023] = total
    return 1000 * (time.thread_time() - begun_s)


class _Peak:
    """The greatest memory of all processes below this one together, and the CPU time of each."""

    def __init__(self) -> None:
        self.bytes = 0
        self._times: dict[int, tuple[float, float]] = {}

    def look(self) -> None:
        """Take a sample."""
        processes = _descendants(os.getpid())
        self.bytes = max(self.bytes, sum(map(_resident, processes)))
        for process in processes:
            with contextlib.suppress(OSError):
                ran, waited = Path(f"/proc/{process}/schedstat").read_text().split()[:2]
                self._times[process] = int(ran) / 1e9, int(waited) / 1e9

    def busiest(self) -> tuple[float, float]:
        """Return the CPU time of the busiest process and how long it waited for a processor."""
        return max(self._times.values(), default=(0.0, 0.0))


def _descendants(process: int) -> list[int]:
    found: list[int] = []
    waiting = [process]
    while waiting:
        one = waiting.pop()
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                below = [int(word) for word in children.read_text().split()]
                found += below
                waiting += below
    return found


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0


if __name__ == "__main__":
    _run(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
