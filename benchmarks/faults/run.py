"""Make faults in a separate process, each within its time, and leave nothing behind.

Whatever happens in the `worker`, this process is well: it waits for lines with a limit, ends the
worker when a fault takes too long or when it is interrupted itself, ends what is left then
(`remains`), and continues with the next fault in a new worker.
"""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from benchmarks.faults.fault import Fault
from benchmarks.faults.report import Outcome
from benchmarks.faults.system import remains
from benchmarks.faults.worker import BEGIN, MAKING, OUTCOME

__all__ = ["Run"]

GROUND_S: Final = 180.0
"""The ground of a fault is made again within this, times the patience."""
ENDS_S: Final = 20.0
"""A worker that was asked to end does so within this; then it is killed."""


@dataclass
class Run:
    """Faults, one after the other.

    told: receives each outcome when it arrives. say: sentences of the faults. Times are multiplied
    by patience, where the machine is busy.
    """

    faults: Sequence[Fault]
    told: Callable[[Outcome], None]
    say: Callable[[str], None]
    quick: bool = False
    patience: float = 1.0
    keep: bool = False
    command: Sequence[str] = (sys.executable, "-m", "benchmarks.faults.worker")
    outcomes: list[Outcome] = field(default_factory=list)
    _worker: subprocess.Popen[str] | None = None
    _lines: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    _now: str = ""
    _begun: bool = False
    _since_s: float = 0.0
    _until_s: float = 0.0

    def make_all(self) -> None:
        """Make all of them; an interrupt (KeyboardInterrupt) ends it in order."""
        remains.adopt()
        folder = Path(tempfile.mkdtemp(prefix="prsm-faults-"))
        folder.chmod(0o711)
        try:
            while len(self.outcomes) < len(self.faults):
                left = self.faults[len(self.outcomes) :]
                self._begin(folder, left)
                try:
                    self._listen(left)
                finally:
                    self._end(folder)
        finally:
            if self.keep:
                self.say(f"kept: {folder}")
            else:
                shutil.rmtree(folder, ignore_errors=True)

    def _begin(self, folder: Path, left: Sequence[Fault]) -> None:
        words = [*self.command, str(folder), "--patience", str(self.patience)]
        words += ["--quick"] if self.quick else []
        self._lines = queue.SimpleQueue()
        self._now, self._begun = "", False
        self._allow(GROUND_S)
        self._worker = subprocess.Popen(
            [*words, *(one.name for one in left)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True,  # Ctrl-C is for this process, which ends it in order
        )  # fmt: skip
        reading = (self._worker.stdout, self._lines)
        threading.Thread(target=_read, args=reading, daemon=True, name="reader").start()

    def _allow(self, seconds: float) -> None:
        self._since_s = time.monotonic()
        self._until_s = self._since_s + seconds * self.patience

    def _listen(self, left: Sequence[Fault]) -> None:
        """Take what the worker says until it ends, or must be ended."""
        by_name = {one.name: one for one in left}
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, self._until_s - time.monotonic()))
            except queue.Empty:
                after_s = time.monotonic() - self._since_s
                if self._now or not self._known(left[0].name):
                    self._gave_up(by_name, left, f"not done after {after_s:.0f} s, and was ended")
                return
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == MAKING:
                self._now, self._begun = rest, False
                self._allow(GROUND_S)
            elif word == BEGIN:
                self._begun = True
                self._allow(by_name[rest].limit_s)
            elif word == OUTCOME:
                self._note(Outcome.from_json(rest))
                self._now = ""
                self._allow(GROUND_S)
            elif line:
                self.say(line.rstrip("\n"))
            else:  # it ended
                # Between two faults, where it could not end a process, another worker continues.
                idle = not self._now and self._known(left[0].name)
                if not idle:
                    self._gave_up(by_name, left, "the process that made it ended")
                return

    def _gave_up(self, by_name: dict[str, Fault], left: Sequence[Fault], why: str) -> None:
        """The fault of now is broken, what it promised was not seen; or it was not even begun."""
        name = self._now or next((one.name for one in left if not self._known(one.name)), "")
        if not name:
            return
        outcome = Outcome(name, by_name[name].promise, wall_s=time.monotonic() - self._since_s)
        if self._begun:
            outcome.broken = [why]
        else:
            outcome.missing = f"before it began: {why}"
        self._note(outcome)

    def _known(self, name: str) -> bool:
        return any(one.name == name for one in self.outcomes)

    def _note(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.told(outcome)

    def _end(self, folder: Path) -> None:
        """End the worker, and all that it started."""
        worker, self._worker = self._worker, None
        assert worker is not None
        if worker.poll() is None:
            worker.terminate()
            try:
                worker.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        left = remains.end_children()
        mounts = remains.unmount_below(folder)
        networks = remains.remove_networks(worker.pid)
        if left or mounts or networks:
            self.say(f"    left behind, and ended: {left} processes, {mounts} mounts, "
                     f"{networks} networks")  # fmt: skip


def _read(stream: IO[str] | None, lines: queue.SimpleQueue[str]) -> None:
    assert stream is not None
    with stream:
        for line in stream:
            lines.put(line)
    lines.put("")


def interruptible() -> None:
    """End the run in order at Ctrl-C, SIGTERM and SIGHUP."""

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(*_: object) -> None:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)  # once is enough: ending takes a minute at most
        raise KeyboardInterrupt

    for number in signals:
        signal.signal(number, interrupt)
    # Programs start as they do where they are installed: compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
