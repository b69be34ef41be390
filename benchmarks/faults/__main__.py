"""Bad days, one after the other: what broke, how long until all was back, and was it as promised?

    python -m benchmarks.faults [--only NAME]... [--quick] [--list] [--keep] [--patience N]

Each fault is made on a system of shipped commands (`system`), watched from outside (`evidence`),
and after each an independent checker reads the database, the acknowledged reports and the
log of the sites (`check`). Promised is: no acknowledged report lost; no unit with two owners;
without a hand the service and the leader back in less than 10 s after the cause is gone, agents
with their next contact, a take-over by the end of the permit and 60 s. A fault that takes too long
is ended, and the next one made (`run`). The last line is `RESULT` and JSON, after an interrupt too;
the exit code is 1 where a promise was broken, 2 where a fault could not be made.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from benchmarks.faults.causes import all_faults
from benchmarks.faults.report import HEAD, Outcome, result_of, row, table
from benchmarks.faults.run import Run, interruptible
from benchmarks.progress import say


def _tell(outcome: Outcome) -> None:
    say(row(outcome.cells()))
    for sentence in outcome.problems():
        say(f"    {sentence}")


def main() -> None:
    """Make the faults, print the table, and end with what it says."""
    parser = argparse.ArgumentParser(prog="benchmarks.faults", description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="these, or beginning so")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--list", action="store_true", help="say which there are")
    parser.add_argument("--keep", action="store_true", help="leave logs and databases behind")
    parser.add_argument(
        "--patience", type=float, default=1.0, metavar="N",
        help="wait so many times longer before giving up; promised times stay as they are",
    )  # fmt: skip
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
    begun_s = time.monotonic()
    load = os.getloadavg()[0]
    say(f"{len(faults)} faults; load before: {load:.1f} on {os.cpu_count()} cores\n")
    say(row(HEAD))
    say(row(["---"] * len(HEAD)))
    run = Run(faults, _tell, say, quick=options.quick, patience=options.patience, keep=options.keep)
    interrupted = False
    interruptible()
    try:
        run.make_all()
    except KeyboardInterrupt:
        interrupted = True
        say("interrupted")
    say("\n" + table(run.outcomes))
    result = result_of(run.outcomes, len(faults))
    result["wall_s"] = round(time.monotonic() - begun_s)
    say("RESULT " + json.dumps(result))
    if any(one.broken for one in run.outcomes):
        sys.exit(1)
    if interrupted or any(one.missing for one in run.outcomes):
        sys.exit(2)


if __name__ == "__main__":
    main()
