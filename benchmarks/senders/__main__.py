"""Effect of one hostile sender on others, and on the manager's time to stop.

    python -m benchmarks.senders [--only comments,gone] [--seconds 30] [--stop-s 20] [--quick]

For each way to be hostile a shipped `prsm serve` with its settings serves ten honest agents and
three with syncs. Printed are the waits of the honest, from the first try to the acceptance; how
long the manager works on when the hostile clients have gone; and the time from SIGTERM to its end
while they are there. The last line is `RESULT` and JSON.

    worst_wait_s   goal: at most 5
    sigterm_s      goal: at most stop_s + 5; it is killed after 90
    works_on_s     after the hostile clients have gone
    peak_mb        the most memory of all its processes together, as seen once a second
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.manager.stage import cpu_s
from benchmarks.senders.honest import HonestAgent, Waits
from benchmarks.senders.hostile import WAYS, Hostile, settled
from tests.e2e.manager_process import ManagerProcess

HONEST: Final = 10
SYNCING: Final = 3
GOAL_S: Final = 5.0
KILLED_S: Final = 90.0
LEFT_S: Final = 60.0  # for what is under way when a way is over
FILES: Final = 8192


@dataclass(frozen=True, slots=True)
class Seen:
    """Results of one way to be hostile."""

    worst_wait_s: float
    median_wait_s: float
    worst: str
    accepted: int
    refused: int
    never: int
    works_on_s: float
    sigterm_s: float
    peak_mb: int
    answers: dict[str, int]


def main() -> int:
    """Run all ways, one after the other."""
    asked = _arguments()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, FILES), hard), hard))
    result: dict[str, object] = {"seconds": asked.seconds, "stop_s": asked.stop_s}
    print(f"{'sender':<44} {'worst s':>8} {'median':>7} {'never':>6} {'works on':>9} "
          f"{'SIGTERM s':>10} {'MB':>6}")  # fmt: skip
    held = True
    for name in asked.only.split(",") if asked.only else WAYS:
        with tempfile.TemporaryDirectory(prefix="prsm-senders-") as folder:
            seen = _run(name, Path(folder), asked)
        what = WAYS[name][0]
        print(f"{what:<44} {seen.worst_wait_s:8.1f} {seen.median_wait_s:7.2f} {seen.never:6d} "
              f"{seen.works_on_s:9.1f} {seen.sigterm_s:10.1f} {seen.peak_mb:6d}  "
              f"[{seen.worst}; {seen.accepted} accepted, {seen.refused} tries refused; "
              f"answers {seen.answers}]", flush=True)  # fmt: skip
        result[name] = asdict(seen)
        held &= seen.worst_wait_s <= GOAL_S and seen.sigterm_s <= asked.stop_s + GOAL_S
    result["held"] = held
    print("RESULT " + json.dumps(result))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", default="", help=f"some of {', '.join(WAYS)}")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each way")
    parser.add_argument("--stop-s", type=float, default=20.0, help="the setting server.stop_s")
    parser.add_argument("--quick", action="store_true", help="10 s of each, stop_s of 5")
    parser.add_argument("--keep-log", type=Path, help="a folder for the managers' logs")
    asked = parser.parse_args()
    if asked.quick:
        asked.seconds, asked.stop_s = 10.0, 5.0
    return asked


def _run(name: str, folder: Path, asked: argparse.Namespace) -> Seen:
    _, way, threads = WAYS[name]
    manager = ManagerProcess(folder / "data", f"server.stop_s={asked.stop_s}", "policy.tick_s=5")
    manager.start()
    try:
        waits, ends = Waits(), [float("inf")]
        honest = []
        for number in range(HONEST + SYNCING):
            kind = "plain" if number < HONEST else "sync"
            agent = f"{kind}{number}.example"
            client = manager.agent(agent, kind)
            honest.append(HonestAgent(agent, client, kind, waits, lambda: ends[0]))
        key = manager.agent("bad.example", "sync").headers["authorization"].split()[1]
        hostile = Hostile(manager.port, "bad.example", key)
        with _peak(manager.process.pid) as peak:
            if way is not None:
                hostile.start(way, threads)
                time.sleep(1.0)
            for number, one in enumerate(honest):
                one.start(number * 0.4)
            time.sleep(asked.seconds)
            ends[0] = time.monotonic() + LEFT_S
            for one in honest:
                one.stop()
            for one in honest:
                one.join()
            hostile.stop()
            works_on_s = settled(lambda: cpu_s(manager.process.pid), 120.0)
        again = Hostile(manager.port, "bad.example", key)
        if way is not None:
            again.start(way, threads)
            time.sleep(3.0)
        sigterm_s = _ended_after(manager)
        again.stop()
    finally:
        if asked.keep_log is not None:
            (asked.keep_log / f"{name}.log").write_text(manager.log)
        manager.close()
    return Seen(
        round(waits.worst_s, 2), round(waits.median_s, 3), waits.worst,
        len(waits.seconds) - waits.never, waits.refused, waits.never, round(works_on_s, 1),
        round(sigterm_s, 1), peak[0], dict(hostile.answers),
    )  # fmt: skip


def _ended_after(manager: ManagerProcess) -> float:
    """Return how long a manager takes to end after SIGTERM; kill it where it takes too long."""
    begun = time.monotonic()
    manager.process.terminate()
    while manager.process.poll() is None and time.monotonic() - begun < KILLED_S:
        time.sleep(0.05)
    seconds = time.monotonic() - begun
    if manager.process.poll() is None:
        manager.kill()
    return seconds


@contextmanager
def _peak(pid: int) -> Iterator[list[int]]:
    """Give the most memory of a process and those below it, in MB, as seen once a second."""
    most, over = [0], threading.Event()

    def look() -> None:
        while not over.wait(1.0):
            most[0] = max(most[0], round(_memory_mb(pid)))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


def _memory_mb(pid: int) -> float:
    """Return the memory of a process and those below it; pages that they share count once."""
    try:
        said = re.search(r"^Pss:\s*(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
        children = {
            int(one)
            for task in os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  # names are enough
            for one in Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        }
    except OSError:
        return 0.0
    own = int(said[1]) / 1000 if said else 0.0
    return own + sum(map(_memory_mb, children))


if __name__ == "__main__":
    sys.exit(main())
