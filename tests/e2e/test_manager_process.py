"""What starts managers for tests leaves none behind."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e import manager_process
from tests.e2e.manager_process import ManagerProcess

STUBBORN = "trap '' TERM; echo ready; while :; do sleep 1; done"


def test_who_does_not_stop_is_told_of_and_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed when its time to stop is over, and the test hears that it took too long."""
    monkeypatch.setattr(manager_process, "STOP_S", 0.1)
    manager = ManagerProcess(tmp_path / "data")
    manager._process = subprocess.Popen(
        ["/bin/sh", "-c", STUBBORN], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert manager.process.stdout is not None
    assert manager.process.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        manager.close()
    assert manager.process.returncode == -signal.SIGKILL
