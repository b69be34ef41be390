"""The suite of faults makes what it says: a few of them, for real, and nothing is lost.

How long things take is judged by `make faults`, on a machine that does nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.programs import program

pytestmark = [pytest.mark.e2e, pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(3600)]

FAULTS = ("power-cut", "leader-stopped", "clock-leader-30d", "disk-full-postgres")


def test_bad_days_lose_nothing() -> None:
    """A power cut, a sleeping leader, a clock that is set back, a full disk."""
    program("nginx")
    chosen = [word for name in FAULTS for word in ("--only", name)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", "--quick", "--patience", "5", *chosen],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    print(said)
    last = done.stdout.splitlines()[-1]
    assert last.startswith("RESULT "), said
    result = json.loads(last.removeprefix("RESULT "))
    assert result["faults"] + result["not_made"] >= len(FAULTS), said
    assert result["faults"] > 0, said
    assert (result["lost_acknowledged"], result["double_owners"]) == (0, 0), said
