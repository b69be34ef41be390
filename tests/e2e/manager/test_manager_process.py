"""What starts managers for tests leaves none behind, and takes nobody's port."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.e2e import manager_process
from tests.e2e.manager_process import ManagerProcess
from tools.demo.system import Manager

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


def test_a_port_is_nobody_elses_from_the_beginning(tmp_path: Path) -> None:
    """Before a manager listens, and between two starts, others are kept from its port."""
    manager = Manager(tmp_path / "manager")
    port = int(manager.url.rpartition(":")[2])
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    with socket.create_server(("127.0.0.1", port)):
        pass
