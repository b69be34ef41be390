"""From the archive to a manager that hears of the agent: real programs, as at a site."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from tests.bundle.test_installing import install
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tools.demo.system import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def answering(words: list[str], answers: list[tuple[str, str]], seconds: float = 120) -> str:
    """Run a command on a terminal, answer each question when it comes, and return all it said."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(words[0], words)
    said, asked, end_s = "", list(answers), time.monotonic() + seconds
    try:
        while time.monotonic() < end_s:
            if not select.select([terminal], [], [], 1.0)[0]:
                continue
            try:
                said += os.read(terminal, 65536).decode()
            except OSError:  # it has ended
                break
            if asked and said.rstrip().endswith(asked[0][0]):
                os.write(terminal, f"{asked.pop(0)[1]}\n".encode())
    finally:
        os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert (os.waitstatus_to_exitcode(status), asked) == (0, []), said
    return said


def version_of(manager: ManagerProcess, name: str) -> str:
    """Return the version that an agent's last sync named; empty: it never synced."""
    agents = json.loads(prsm(manager.data, "agents", "list", "--json"))
    return next(str(one["version"]) for one in agents if one["name"] == name)


def test_a_partner_answers_questions_and_the_manager_hears_of_it(
    unpacked: Path, tmp_path: Path
) -> None:
    """Archive, install, enrol by questions (one answered wrongly first), doctor, the first sync."""
    home = unpacked.parent / "prs"
    install(unpacked)
    prs = str(home / "bin/prs")
    with running_manager(tmp_path / "manager") as manager:
        token = prsm(manager.data, "agents", "token", "robot.example.jp").strip()
        said = answering(
            [prs, "enrol"],
            [
                ("Address of the manager:", "http://prsm.example.org"),
                ("Address of the manager:", manager.url),
                ("Join token:", token),
                ("]:", "robot.example.jp"),
                ("robot visits:", "partner@example.jp"),
                ("Monday to Friday [always]:", "02:00-08:00"),
                ("Saturday and Sunday [always]:", "always"),
                ("Where it stands (empty: not said):", "35.03 135.78"),
                ("]:", "none"),
            ],
        )
        assert "must begin with https://" in said
        assert "enrolled as robot.example.jp" in said
        assert "ok  key: accepted, as robot.example.jp" in said
        settings = (home / "data/prs.toml").read_text()
        assert 'weekday = ["02:00-08:00"]' in settings
        assert f"{prs} --home {home}/data run --once --quiet --replace-hung" in said
        doctor = subprocess.run([prs, "doctor"], capture_output=True, text=True, check=False)
        assert "ok  contact: partner@example.jp" in doctor.stdout
        assert "ok  manager: " in doctor.stdout
        assert version_of(manager, "robot.example.jp") == ""
        with subprocess.Popen([prs, "run", "--quiet"], stdin=subprocess.DEVNULL) as agent:
            try:
                wait_for(
                    "the first sync",
                    lambda: version_of(manager, "robot.example.jp") == "9.1",
                    seconds=90,
                )
            finally:
                agent.terminate()
        assert agent.returncode == 0
        assert "stopped: received SIGTERM" in (home / "data/robot.log").read_text()
