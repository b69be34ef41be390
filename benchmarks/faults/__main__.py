"""Bad days, one after the other: what broke, how long until all was back, and was it as promised?

    python -m benchmarks.faults [--only NAME]... [--quick] [--list] [--keep]

Each fault is made on a system of shipped commands (`ground`), watched from outside (`watch`), and
after each an independent checker reads the database, the reports that were acknowledged and the
log of the sites (`check`). Promised is: no acknowledged report lost; no unit with two owners;
without a hand the service and the leader back in less than 10 s after the cause is gone, agents
with their next contact, a take-over by the end of the permit and 60 s. The last line is `RESULT`
and JSON; the exit code is 1 where a promise was broken, 2 where a fault could not be made.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks.faults.causes import all_faults
from benchmarks.faults.fault import Fault, FaultError, Trial
from benchmarks.faults.ground import Ground, running_ground
from benchmarks.faults.report import Outcome, result_of, table


def _say(sentence: str) -> None:
    print(sentence, flush=True)


class _Grounds:
    """The ground that faults share, made when one is needed, and anew where one left it unwell."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._stack: ExitStack | None = None
        self._ground: Ground | None = None

    def get(self, fault: Fault) -> Ground:
        wrong = self._ground is not None and not self._ground.clocks_right
        if fault.fresh or (wrong and not fault.clocks):
            self.close()
        if self._ground is None:
            self._number += 1
            self._stack = ExitStack()
            folder = self._folder / f"ground{self._number}"
            folder.mkdir()
            try:
                self._ground = self._stack.enter_context(running_ground(folder))
            except BaseException:
                self._stack.close()
                raise
        return self._ground

    def close(self) -> None:
        stack, self._stack, self._ground = self._stack, None, None
        if stack is not None:
            stack.close()


def _make(fault: Fault, grounds: _Grounds, folder: Path, *, quick: bool) -> Outcome:
    """Make one fault and judge it."""
    times = fault.quick_times if quick else fault.times
    folder.mkdir()
    begun_s = time.monotonic()
    missing = fault.needs()
    if missing:
        return Outcome(fault, Trial(folder), 0.0, missing=missing)
    ground = None if fault.alone else grounds.get(fault)
    trial = Trial(folder, times, _say, ground)
    outcome = Outcome(fault, trial, 0.0)
    trial.usual_s = ground.watch.usual_s() if ground is not None else 0.0
    try:
        fault.act(trial)
        if ground is not None:
            trial.recovered()
            outcome.verdict = ground.check()
            trial.wrong += outcome.verdict.lines()
    except (FaultError, TimeoutError, OSError) as error:
        outcome.missing = f"{type(error).__name__}: {error}"
    outcome.wall_s = time.monotonic() - begun_s
    well = outcome.verdict is None or outcome.verdict.ok
    if outcome.missing or trial.unwell or fault.fresh or not well:
        grounds.close()  # what follows is not to be judged by what it did not do
    return outcome


def main() -> None:
    """Make the faults, print the table, and end with what it says."""
    parser = argparse.ArgumentParser(prog="benchmarks.faults", description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="these, or beginning so")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--list", action="store_true", help="say which there are")
    parser.add_argument("--keep", action="store_true", help="leave logs and databases behind")
    options = parser.parse_args()
    faults = all_faults()
    if options.only:
        faults = [one for one in faults if any(one.name.startswith(x) for x in options.only)]
        if not faults:
            parser.error(f"no fault is named {' or '.join(options.only)}; --list names them")
    if options.list:
        for one in faults:
            print(f"{one.name:32} {one.times:4}  {one.promise}")
        return
    # Ended by SIGTERM, it ends its programs too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # Programs start as they do where they are installed: compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    begun_s = time.monotonic()
    _say(f"{len(faults)} faults; load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    folder = Path(tempfile.mkdtemp(prefix="prsm-faults-"))
    folder.chmod(0o711)
    grounds = _Grounds(folder)
    outcomes: list[Outcome] = []
    try:
        for fault in faults:
            outcome = _make(fault, grounds, folder / fault.name, quick=options.quick)
            outcomes.append(outcome)
            _say(outcome.line())
            for sentence in outcome.problems():
                _say(f"    {sentence}")
    finally:
        grounds.close()
        if options.keep:
            _say(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    _say("\n" + table(outcomes))
    result = result_of(outcomes)
    result["wall_s"] = round(time.monotonic() - begun_s)
    print("RESULT " + json.dumps(result))
    if any(one.trial.broken for one in outcomes):
        sys.exit(1)
    if any(one.missing for one in outcomes):
        sys.exit(2)


if __name__ == "__main__":
    main()
