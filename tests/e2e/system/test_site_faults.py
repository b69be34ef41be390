"""Bad days at a partner's site: a few of the suite's, for real, and nothing is lost.

How long things take is judged by `make faults`, on a machine that does nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.programs import program

pytestmark = [pytest.mark.e2e, pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(3600)]

AGENT = ("site-stopped", "site-cloned", "site-disk-full", "site-authority-changed")
LINE = ("site-cut-longer", "site-messages-shuffled", "site-answers-lost", "site-line")
WAYS = ("site-clock", "site-names-silent", "site-proxy")


@pytest.mark.parametrize("faults", [AGENT, LINE, WAYS], ids=["agent", "line", "ways"])
def test_bad_days_at_a_site_lose_nothing(faults: tuple[str, ...]) -> None:
    """It sleeps, has a copy, a full disk, a wrong clock; its line, its names, its proxy fail."""
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
    assert (result["lost_acknowledged"], result["double_owners"]) == (0, 0), said
    assert "not so: " not in said, said
