"""The unit for systemd, looked at by systemd itself where it is there."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from agent.app.startup.agent_run import notify_systemd
from agent.control.cron_times import UpdateTime
from agent.control.units import (
    install_timer,
    install_unit,
    remove_units,
    timer_path,
    timer_text,
    unit_path,
    unit_text,
    update_text,
)
from agent.errors import HomeError
from tests.programs import program

HOME = Path("/home/a b/100%/data")
WORDS = ["/bin/sh", "--home", "/a b/100%$x"]


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a systemctl that writes down what it is told, on a machine that has nothing else."""
    told = tmp_path / "told"
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "systemctl").write_text(f'#!/bin/sh\nshift\necho "$@" >> {told}\n')
    (binaries / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", str(binaries))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return told


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """Also with a folder's name that needs quotes."""
    verify = program("systemd-analyze")
    texts = {
        "prs-1.service": unit_text(HOME, WORDS),
        "prs-1-update.service": update_text(HOME, [*WORDS, "update"]),
        "prs-1-update.timer": timer_text(HOME, UpdateTime(7, 5)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    words = [verify, "--user", "--man=no", "verify", *(str(tmp_path / name) for name in texts)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert "prs-1" not in done.stderr, done.stderr


def test_a_timer_is_due_once_a_day() -> None:
    """At the installation's own time, as systemd reads it."""
    calendar = [
        line for line in timer_text(HOME, UpdateTime(7, 5)).splitlines() if "OnCalendar" in line
    ]
    assert calendar == ["OnCalendar=*-*-* 07:05:00"]
    analyze = program("systemd-analyze")
    words = [analyze, "calendar", calendar[0].partition("=")[2]]
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "Normalized form: *-*-* 07:05:00" in said.stdout
    weekend = UpdateTime(7, 5, (0, 6)).of_systemd
    said = subprocess.run(
        [analyze, "calendar", weekend], capture_output=True, text=True, check=True
    )
    assert "Normalized form: Sat,Sun *-*-* 07:05:00" in said.stdout


def test_what_was_installed_is_removed(tmp_path: Path, systemctl: Path) -> None:
    """Agent, timer and the unit of the timer; a machine without logind is no error."""
    said = install_unit(tmp_path, WORDS) + install_timer(tmp_path, WORDS, UpdateTime(7, 5))
    assert said[1].startswith("it ends when you log out")
    unit, timer = unit_path(tmp_path), timer_path(tmp_path)
    update = timer.with_suffix(".service")
    assert said[2] == f"systemd looks for releases, each day about 07:05: {timer}"
    assert {path.name for path in unit.parent.iterdir()} == {unit.name, timer.name, update.name}
    assert remove_units(tmp_path)
    assert list(unit.parent.iterdir()) == []
    assert not remove_units(tmp_path)
    assert systemctl.read_text().splitlines() == [
        "daemon-reload",
        f"enable --now {unit.name}",
        "daemon-reload",
        f"enable --now {timer.name}",
        f"disable --now {timer.name}",
        f"disable --now {unit.name}",
        "daemon-reload",
    ]


def test_without_a_manager_of_the_user_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that boots otherwise says so, with the other way."""
    program("systemctl")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/none")
    with pytest.raises(HomeError, match="prs schedule cron"):
        install_unit(tmp_path, ["/bin/sh"])
    with pytest.raises(HomeError, match="prs schedule cron"):
        install_timer(tmp_path, ["/bin/sh"], UpdateTime(7, 5))
    assert list(unit_path(tmp_path).parent.iterdir()) == []


def test_signs_of_life_reach_who_asked_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One datagram; nothing where nobody asked, or nobody listens any more."""
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify_systemd()
    place = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(place))
        monkeypatch.setenv("NOTIFY_SOCKET", str(place))
        notify_systemd()
        assert listener.recv(100) == b"WATCHDOG=1"
    place.unlink()
    notify_systemd()
