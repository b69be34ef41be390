"""Cron looks for a release once a day, where the agent was installed from an archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.app import starting
from agent.app.starting import update_lines
from agent.control.units import unit_path
from agent.settings import Home, read_settings


def test_cron_looks_for_a_release_once_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At an hour and a minute of this installation's own; who was installed otherwise does not."""
    Home(tmp_path).make()
    settings = read_settings(tmp_path)
    monkeypatch.delenv("PRS_PROGRAM", raising=False)
    assert update_lines(settings) == []
    monkeypatch.setenv("PRS_PROGRAM", "/home/robot/prs/bin/prs")
    (line,) = update_lines(settings)
    minute, hour, *rest = line.split(maxsplit=5)
    assert (0 <= int(minute) < 60, 0 <= int(hour) < 24, rest[:3]) == (True, True, ["*"] * 3)
    assert rest[3] == f"/home/robot/prs/bin/prs --home {tmp_path} update --quiet"
    assert update_lines(settings) == [line], "not drawn anew each time"


def test_without_cron_somebody_else_must_look_for_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service alone would stay on its release for ever, and nobody would know."""
    home = tmp_path / "prs"
    Home(home).make()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(starting, "install_unit", lambda *_: ["systemd runs it"])
    monkeypatch.delenv("PRS_PROGRAM", raising=False)
    assert starting.arrange(read_settings(home), "systemd") == ["systemd runs it"]
    monkeypatch.setenv("PRS_PROGRAM", "/home/robot/prs/bin/prs")
    said = starting.arrange(read_settings(home), "systemd")
    assert said[1:] == [starting.NO_CRON]
    assert starting.arranged(home) == [
        "nobody starts it: prs schedule cron, or prs schedule systemd"
    ]
    unit = unit_path(home)
    unit.parent.mkdir(parents=True)
    unit.touch()
    assert starting.arranged(home)[1:] == [starting.NO_CRON]
