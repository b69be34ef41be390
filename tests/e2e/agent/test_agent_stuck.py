"""An agent whose work does not get on is found out, though its process lives and calls."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agent.control.lock import holder_of
from tests.agent.app.scene import scene
from tests.e2e.agent.test_agent_hold import workers_of

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# Twice the deadline of a fetch and ten minutes are too long for a test.
SOON = """
import sys
import agent.app.session.watchdog as getting_on
getting_on.PAGE_S = 1.0
from agent.cli import main
sys.argv = ["prs", "run"]
main()
"""


def test_pages_that_nobody_reads_are_told_and_end_the_signs_of_life(tmp_path: Path) -> None:
    """Its page workers stand still: it says so, calls the manager on, and lives no more."""
    with scene(tmp_path, pages_mean=60) as it:
        it.give_all()
        it.agent.program.words = ["python", "-c", SOON]
        it.agent.start()
        process = it.agent.program.process
        assert process is not None
        it.until("requests", lambda: len(it.web.requests()) > 3)
        stopped = workers_of(process.pid)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        it.until("the word", lambda: "this process is stuck" in it.said())
        assert "requests: no progress for 7 s" in it.said()
        held = holder_of(it.home / "lock")
        calls = len(it.manager.syncs)
        it.until("more calls", lambda: len(it.manager.syncs) > calls + 2)
        assert holder_of(it.home / "lock") == held, "no sign of life since"
        assert "stuck: requests" in it.agent.prs("status")
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        it.until("signs of life", lambda: holder_of(it.home / "lock") != held)
