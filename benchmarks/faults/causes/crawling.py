"""Kills of a crawling agent, at random moments and at system calls: `test_agent_kills`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Final

from benchmarks.faults.fault import Fault, Trial

__all__ = ["FAULTS"]

TESTS: Final = "tests/e2e/test_agent_kills.py"


def _kills(trial: Trial) -> None:
    environment = {**os.environ, "PRSM_TESTS": "all", "PRSM_KILLS": str(trial.times)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", TESTS,
         "--basetemp", str(trial.folder / "kills")],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        if re.search(r"\d+ kills|skipped", line):
            trial.say("    " + line.strip())
    trial.causes = sum(int(each) for each in re.findall(r"(\d+) kills, ", done.stdout))
    trial.claim(f"{TESTS} passes: {done.stdout[-1500:]}", done.returncode == 0)
    trial.claim("all of it ran", "skipped" not in done.stdout.splitlines()[-1])


FAULTS: Final = [
    Fault("crawl-killed", "each page kept once, no capture lost", _kills, 200, 20, alone=True),
]
