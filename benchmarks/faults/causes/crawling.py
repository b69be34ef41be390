"""Kills of a crawling agent, at random moments and at system calls: `test_agent_kills`.

It has its own web, manager and agent, and its own judge: `tests/e2e/killings.py`.
All calls, as in docs/performance.md, take three times as long: PRSM_TESTS=all PRSM_KILLS=200
pytest.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from typing import Final

from benchmarks.faults.fault import Fault, Trial

__all__ = ["FAULTS"]

TESTS: Final = "tests/e2e/agent/test_agent_kills.py"


def _kills(trial: Trial, which: str) -> None:
    environment = {**os.environ, "PRSM_TESTS": "all", "PRSM_KILLS": str(trial.times)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", TESTS,
         "-k", which, "--basetemp", str(trial.folder / "kills")],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        if re.search(r"\d+ kills|skipped", line):
            trial.say("    " + line.strip())
    trial.causes = sum(int(each) for each in re.findall(r"(\d+) kills, ", done.stdout))
    said = "" if done.returncode == 0 else done.stdout[-1500:]
    trial.claim(f"{TESTS} passes: {said}", done.returncode == 0)
    trial.claim("kills were made", trial.causes > 0)


FAULTS: Final = [
    Fault(
        "crawl-killed",
        "each page kept once, no capture lost",
        partial(_kills, which="random_moments"),
        100,
        20,
        alone=True,
        limit_s=900,
    ),
    Fault(
        "crawl-killed-in-calls",
        "the same, at syncs, writes, renames",
        partial(_kills, which="sync_and_write"),
        20,
        alone=True,
        quick_times=20,
        limit_s=400,
    ),
]
