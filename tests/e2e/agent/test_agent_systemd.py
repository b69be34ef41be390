"""A systemd of a user's own starts the agent, replaces it when it dies or hangs, lets it stop.

It is the real one, in a namespace in which it believes that the machine was booted with it; its
sockets lie in a folder of the test. Needs root for that namespace only.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from launcher.switch import start_command_of
from tests.agent.app.scene import scene
from tests.programs import program
from tools.demo.system import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

SYSTEMD = Path("/lib/systemd/systemd")
BOOTED = "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec"
SOON = "[Service]\nRestartSec=1\nWatchdogSec=20\n"
LONG_S = 180.0


class Manager:
    """The systemd of a user; `environment` leads to it."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "config"
        self.environment = {
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "XDG_CONFIG_HOME": str(self.config),
            "DBUS_SESSION_BUS_ADDRESS": "",
        }
        self.socket = folder / "run" / "systemd" / "private"

    def call(self, *words: str) -> str:
        """Run `systemctl --user` and return what it says."""
        done = subprocess.run(
            [program("systemctl"), "--user", *words],
            env=os.environ | self.environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout.strip()


@contextmanager
def systemd_of_a_user(folder: Path) -> Iterator[Manager]:
    """Give one; skip the test where there can be none."""
    unshare = program("unshare")
    if os.geteuid() != 0 or not SYSTEMD.exists():
        pytest.skip("a systemd of its own needs root and /lib/systemd/systemd")
    (folder / "run").mkdir(mode=0o700)
    manager = Manager(folder)
    words = [unshare, "--mount", "--propagation", "private", "sh", "-c"]
    with (folder / "systemd.log").open("w") as log:
        process = subprocess.Popen(
            [*words, f"{BOOTED} {SYSTEMD} --user --log-target=console"],
            env=os.environ | manager.environment,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        wait_for(
            "systemd", lambda: manager.socket.exists() or process.poll() is not None, seconds=60
        )
        if process.poll() is not None:
            pytest.skip(f"systemd --user does not run here: {(folder / 'systemd.log').read_text()}")
        yield manager
    finally:
        process.terminate()
        process.wait(60)


def test_systemd_keeps_the_agent_alive_and_lets_it_stop(tmp_path: Path) -> None:
    """Killed and hung processes are replaced; one that was told to stop is not; then it is gone."""
    with systemd_of_a_user(tmp_path) as systemd, scene(tmp_path / "scene") as it:
        it.agent.environment |= systemd.environment
        said = it.agent.prs("schedule", "systemd")
        (unit,) = (systemd.config / "systemd" / "user").glob("prs-*.service")
        assert f"systemd runs {unit}" in said
        it.until("the first sync", lambda: it.manager.syncs, seconds=LONG_S)
        assert f"systemd starts it: {unit}" in it.agent.prs("schedule")
        folder = unit.with_name(f"{unit.name}.d")
        folder.mkdir()
        (folder / "soon.conf").write_text(SOON)
        systemd.call("daemon-reload")
        systemd.call("restart", unit.name)

        def main_pid() -> int:
            return int(systemd.call("show", "--property=MainPID", "--value", unit.name) or 0)

        def until_processes(count: int) -> None:
            def lived() -> bool:
                return len({one.boot_id for one in it.manager.syncs}) == count

            it.until(f"process {count}", lived, seconds=LONG_S)

        until_processes(2)
        assert start_command_of(main_pid()) == ("systemctl", "--user", "start", unit.name)
        os.kill(main_pid(), signal.SIGKILL)
        until_processes(3)
        os.kill(main_pid(), signal.SIGSTOP)
        until_processes(4)
        assert "has stopped" in it.agent.prs("stop")
        it.until("systemd to see it", lambda: systemd.call("is-active", unit.name) == "inactive")
        it.agent.prs("schedule", "none")
        assert not unit.exists()
        assert "no start method" in it.agent.prs("schedule")
