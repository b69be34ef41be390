"""The process that makes faults one after the other, and tells its parent (`run`) of each.

    python -m benchmarks.faults.worker FOLDER [--quick] [--patience N] NAME...

A line of standard output is `BEGIN name`, when its limit of time begins; `OUTCOME` and JSON, when
it is judged; or a sentence for people. SIGTERM ends everything that was started. Whatever a fault
does to this process, the parent ends what is left and continues with the next in another one.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks.faults.causes import all_faults
from benchmarks.faults.check import Verdict
from benchmarks.faults.fault import Fault, FaultError, Shared, Trial
from benchmarks.faults.report import Outcome
from benchmarks.faults.system.ground import Ground, running_ground
from benchmarks.faults.system.needs import needs_ground
from benchmarks.progress import say

__all__ = ["BEGIN", "MAKING", "OUTCOME", "main"]

MAKING: Final = "MAKING"
BEGIN: Final = "BEGIN"
OUTCOME: Final = "OUTCOME"
PR_SET_PDEATHSIG: Final = 1


class _Grounds:
    """The ground that faults share, made when one is needed, and again where one damaged it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._stack: ExitStack | None = None
        self._ground: Ground | None = None

    def get(self, fault: Fault) -> Ground:
        """Return one that this fault may begin on."""
        wrong = self._ground is not None and not self._ground.clocks_right
        if fault.fresh or (wrong and not fault.clocks):
            self.close()
        if self._ground is None:
            self._number += 1
            self._stack = ExitStack()
            folder = self._folder / f"ground{os.getpid()}-{self._number}"
            folder.mkdir()
            begun_s = time.monotonic()
            try:
                self._ground = self._stack.enter_context(running_ground(folder))
            except BaseException:
                self.close()
                raise
            say(f"    a ground was made in {time.monotonic() - begun_s:.0f} s")
        return self._ground

    def close(self) -> None:
        """End it."""
        stack, self._stack, self._ground = self._stack, None, None
        if stack is not None:
            stack.close()


class _Maker:
    """Makes faults and judges them. unwell: the next one needs a new ground."""

    def __init__(self, folder: Path, *, quick: bool, patience: float) -> None:
        self._folder, self._quick, self._patience = folder, quick, patience
        self._grounds = _Grounds(folder)
        self._shared = Shared()
        self.unwell = False

    def make(self, fault: Fault) -> Outcome:
        """Make one; whatever goes wrong is in what is returned."""
        say(f"{MAKING} {fault.name}")
        outcome = Outcome(fault.name, fault.promise, missing=fault.needs())
        if not (outcome.missing or fault.alone):
            outcome.missing = needs_ground()
        if outcome.missing:
            return outcome
        trial = Trial(
            self._folder / fault.name,
            fault.quick_times if self._quick else fault.times,
            say,
            patience=self._patience,
            shared=self._shared,
        )
        trial.folder.mkdir(exist_ok=True)
        verdict = Verdict()
        try:
            self._prepare(fault, trial)
        except Exception as error:  # noqa: BLE001 - the run continues, and reports it
            outcome.missing = f"what it needs did not start: {type(error).__name__}: {error}"
            self.unwell = True
            return outcome
        say(f"{BEGIN} {fault.name}")
        trial.begun_s = time.monotonic()
        try:
            fault.act(trial)
            if trial.on is not None:
                trial.recovered()
                verdict = trial.on.check()
        except FaultError as error:
            outcome.missing = str(error)
        except Exception as error:  # noqa: BLE001 - the run continues, and reports it
            trial.wrong.append(f"not judged to its end: {type(error).__name__}: {error}")
        trial.wrong += verdict.lines()
        outcome.broken, outcome.troubles = trial.broken, trial.troubles
        outcome.causes, outcome.figures, outcome.usual_s = (
            trial.causes, trial.figures, trial.usual_s,
        )  # fmt: skip
        outcome.lost = len(verdict.lost) + trial.lost
        outcome.double = len(verdict.double)
        outcome.wall_s = time.monotonic() - trial.begun_s
        self.unwell = bool(outcome.missing or trial.wrong or trial.unwell or fault.fresh)
        return outcome

    def _prepare(self, fault: Fault, trial: Trial) -> None:
        """Start what a fault needs, and stop all else that would take its share of the machine."""
        if fault.alone:
            self._grounds.close()
            return
        self._shared.close()
        trial.on = self._grounds.get(fault)
        trial.usual_s = trial.on.watch.usual_s()

    def close(self) -> None:
        """End all that runs."""
        try:
            self._shared.close()
        finally:
            self._grounds.close()


def _end_with_parent() -> None:
    """End in order when the parent dies, however, or asks for it: by SIGTERM."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(1)

    signal.signal(signal.SIGTERM, end)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main() -> None:
    """Make the faults that are named."""
    parser = argparse.ArgumentParser(prog="benchmarks.faults.worker")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--patience", type=float, default=1.0)
    options = parser.parse_args()
    _end_with_parent()
    faults = {one.name: one for one in all_faults()}
    maker = _Maker(options.folder, quick=options.quick, patience=options.patience)
    try:
        for name in options.names:
            outcome = maker.make(faults[name])
            say(f"{OUTCOME} {outcome.to_json()}")
            if maker.unwell:
                maker.close()  # what follows is not to be judged by what it did not do
                maker.unwell = False
    finally:
        maker.close()


if __name__ == "__main__":
    main()
