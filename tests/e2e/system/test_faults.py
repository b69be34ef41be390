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

CENTRE = ("power-cut", "leader-killed", "leader-stopped", "disk-full-postgres")
CLOCKS = ("clock-leader+30d-monotonic", "clock-leader-30d")
SERVER = ("clock-postgres",)
UPDATES = ("update",)


@pytest.mark.parametrize(
    "faults", [CENTRE, CLOCKS, SERVER, UPDATES], ids=["centre", "clocks", "server", "updates"]
)
def test_bad_days_lose_nothing(faults: tuple[str, ...]) -> None:
    """A power cut, a leader that dies or sleeps, a full disk, clocks, attacks on updates."""
    program("nginx")
    chosen = [word for name in faults for word in ("--only", name)]
    command = [sys.executable, "-m", "benchmarks.faults", "--quick", "--patience", "5", *chosen]
    said = ""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            said += line
    last = said.splitlines()[-1]
    assert last.startswith("RESULT "), said
    result = json.loads(last.removeprefix("RESULT "))
    assert result["faults"] + result["not_made"] >= len(faults), said
    assert result["faults"] > 0, said
    assert (result["lost_acknowledged"], result["double_owners"]) == (0, 0), said
    assert "not so: " not in said, said
    assert "not judged" not in said, said
