"""The demonstration: a healthy system of shipped commands, whose audit names nobody suspect."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from manager.db.engine import Database
from manager.operations.people.audit_log import audit_page

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[3]
MINUTES = 20


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep processors busy meanwhile."""
    with ExitStack() as stack:
        for _ in range(loops):
            program = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(program.wait)
            stack.callback(program.kill)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("loops", [0, 2], ids=["alone", "beside two busy loops"])
def test_a_healthy_demonstration_names_no_agent(tmp_path: Path, loops: int) -> None:
    """No alert of any agent, not even one that is taken back; both rounds bring their pages."""
    folder = tmp_path / "demo"
    with busy(loops):
        done = subprocess.run(
            [sys.executable, "-m", "tools.demo", "--folder", str(folder)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    result = json.loads(done.stdout.rpartition("RESULT ")[2])
    assert result["hosts"] == 60
    assert result["pages"] > 400
    # Of the plan, not of the clock: as early as any plan could, and much earlier than at random.
    assert result["end_balanced_ms"] <= 1.15 * result["end_bound_ms"]
    assert result["end_balanced_ms"] < 0.5 * result["end_random_ms"]
    rows = audit_page(Database(f"sqlite:///{folder / 'manager' / 'prsm.sqlite'}"), limit=1000)
    assert [(row.action, row.subject, row.detail) for row in rows if row.alert] == []
    assert [
        row.subject for row in rows if row.action in ("agent.suspect", "agent.clear-suspicion")
    ] == []
