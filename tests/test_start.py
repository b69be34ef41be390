"""What programs do not import when they start: each of hundreds of starts would pay for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

NOT_NEEDED = ("rich", "pygments", "httpx._main")


@pytest.mark.parametrize("program", ["client.cli", "manager.cli"])
def test_httpx_comes_without_its_command_line(program: str) -> None:
    """`prs-get` and `prsm` import httpx, and not what only its own command needs."""
    told = "json.dumps([name for name in sys.modules if sys.modules[name]])"
    code = f"import json, sys\nimport {program}\nprint({told})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(json.loads(done.stdout))
    assert "httpx" in imported
    assert imported.isdisjoint(NOT_NEEDED)
