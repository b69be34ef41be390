"""The unit for systemd, looked at by systemd itself where it is there."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from agent.control.notify import tell_systemd
from agent.control.units import install_unit, unit_path, unit_text
from agent.errors import HomeError
from tests.programs import program


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """Also with a folder's name that needs quotes."""
    verify = program("systemd-analyze")
    unit = tmp_path / "prs-1.service"
    unit.write_text(unit_text(Path("/home/a b/100%/data"), ["/bin/sh", "--home", "/a b/100%$x"]))
    words = [verify, "--user", "--man=no", "verify", str(unit)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert str(unit.name) not in done.stderr, done.stderr


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
    assert not unit_path(tmp_path).exists()


def test_signs_of_life_reach_who_asked_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One datagram; nothing where nobody asked, or nobody listens any more."""
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    tell_systemd()
    place = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(place))
        monkeypatch.setenv("NOTIFY_SOCKET", str(place))
        tell_systemd()
        assert listener.recv(100) == b"WATCHDOG=1"
    place.unlink()
    tell_systemd()
