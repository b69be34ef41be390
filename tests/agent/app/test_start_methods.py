"""Cron or systemd looks for a release once a day, where an archive was installed."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.app.site.diagnosis import _start
from agent.app.startup import start_methods
from agent.app.startup.start_methods import update_lines
from agent.cli import main
from agent.control.crontab import with_block
from agent.control.lock import HomeLock
from agent.control.units import timer_path, unit_path
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


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a machine whose cron and systemd take all; return the file with the crontab."""
    table = tmp_path / "table"
    table.touch()
    scripts = {
        "crontab": f'[ -e {table} ] || [ "$1" = - ] || {{ echo no crontab >&2; exit 1; }}\n'
        f'[ "$1" = -l ] && exec /bin/cat {table}\n'
        f'[ "$1" = -r ] && exec /bin/rm {table}\nexec /bin/cat > {table}\n',
        "systemctl": "exit 0\n",
    }
    (tmp_path / "bin").mkdir()
    for name, text in scripts.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return table


def test_systemd_looks_for_releases_itself(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a timer, where it was installed from an archive; cron has nothing to do with it."""
    home = tmp_path / "prs"
    Home(home).make()
    settings = read_settings(home)
    monkeypatch.setenv("PRS_PROGRAM", "/home/robot/prs/bin/prs")
    start_methods.install_start_method(settings, "cron")
    hour = update_lines(settings)[0].split()[1]
    (machine.parent / "bin" / "crontab").rename(machine.parent / "crontab")
    said = start_methods.install_start_method(settings, "systemd")
    assert said[-1].startswith("systemd looks for releases, each day about ")
    timer = timer_path(home)
    assert f"OnCalendar=*-*-* {int(hour):02}:" in timer.read_text()
    words = f'"/home/robot/prs/bin/prs" "--home" "{home}" "update" "--quiet"'
    assert f"ExecStart={words}\n" in timer.with_suffix(".service").read_text()
    shown = [f"systemd starts it: {unit_path(home)}", f"systemd looks for releases: {timer}"]
    assert start_methods.describe_start_methods(home) == shown
    (machine.parent / "crontab").rename(machine.parent / "bin" / "crontab")
    assert start_methods.install_start_method(settings, "systemd")[-1] == "removed from the crontab"
    assert not machine.exists(), "it held nothing else"
    assert start_methods.install_start_method(settings, "none") == ["removed from systemd"]
    assert not list(timer.parent.iterdir())


def test_a_service_from_before_there_were_timers(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would stay on its release for ever: that is said, with what to do."""
    home = tmp_path / "prs"
    Home(home).make()
    unit_path(home).parent.mkdir(parents=True)
    unit_path(home).touch()
    monkeypatch.setenv("PRS_PROGRAM", "/home/robot/prs/bin/prs")
    assert start_methods.describe_start_methods(home)[1:] == [start_methods.NO_TIMER]
    lines = update_lines(read_settings(home))
    machine.write_text(with_block("", home, lines))
    assert start_methods.describe_start_methods(home)[0] == "cron updates it:"
    assert start_methods.NO_TIMER not in start_methods.describe_start_methods(home)


def test_what_is_of_hours_that_changed_is_blamed(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent's lines, the line of updates and the timer, each with the command that mends it."""
    home = tmp_path / "prs"
    Home(home).make()
    monkeypatch.setenv("PRS_PROGRAM", "/home/robot/prs/bin/prs")
    always = read_settings(home)
    nights = read_settings(home, ['windows.weekday=["02:00-08:00"]'])
    start_methods.install_start_method(always, "cron")
    assert machine.read_text().count("update --quiet") == 1
    assert _start(always).passed
    assert str(_start(nights).remedy).endswith("prs schedule cron")
    assert str(_start(always).said).startswith("cron starts it: @reboot /home/robot/prs/bin/prs ")
    start_methods.install_start_method(nights, "cron")
    assert _start(nights).passed
    (line,) = update_lines(nights)
    assert 2 <= int(line.split()[1]) < 8
    block = [*start_methods.start_lines(nights), line.replace(line.split()[1], "15", 1)]
    machine.write_text(with_block("", home, block))
    assert str(_start(nights).remedy).endswith("prs schedule cron"), (
        "a line from before it had hours"
    )
    start_methods.install_start_method(nights, "systemd")
    assert _start(nights).passed
    timer = timer_path(home)
    timer.write_text(timer.read_text().replace("*-*-* 0", "*-*-* 1"))
    assert str(_start(nights).remedy).endswith("prs schedule systemd")


@pytest.mark.filterwarnings("ignore:.*still running")  # what was started outlives who started it
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_who_starts_again_what_was_stopped(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody, cron, and systemd, which does it at once; a process that works is left alone."""
    home = tmp_path / "prs"
    Home(home).make()
    joined = {"manager": "https://a.jp", "name": "prs1", "key": "k", "token_hash": "t"}
    Home(home).key.write_text(json.dumps(joined))
    Home(home).key.chmod(0o600)
    settings = read_settings(home)
    calls = tmp_path / "calls"
    prs = tmp_path / "prs-program"
    prs.write_text(f'#!/bin/sh\necho "$@" > {calls}\n')
    prs.chmod(0o755)
    monkeypatch.setenv("PRS_PROGRAM", str(prs))
    words = ["--home", str(home), "start"]
    refused = CliRunner().invoke(main, words)
    assert (refused.exit_code, "prs schedule cron" in refused.stderr) == (1, True)
    assert (
        start_methods.describe_restart(home)
        == "no start method is installed: start it with prs run"
    )
    start_methods.install_start_method(settings, "cron")
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 0
    assert said.stdout.startswith("it ran and had no work; from now on cron starts it:")
    assert calls.read_text() == f"--home {home} run --quiet --replace-hung\n"
    assert [line.strip() for line in said.stdout.splitlines()[1:]] == start_methods.start_lines(
        settings
    )
    prs.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    with monkeypatch.context() as patch:
        patch.setattr(start_methods, "STARTED_S", 0.1)
        going_on = CliRunner().invoke(main, words).stdout
    started = re.match(r"started, as process ([0-9]+); from now on cron starts it:", going_on)
    assert started, going_on
    os.kill(int(started[1]), signal.SIGKILL)
    prs.write_text("#!/bin/sh\nexit 3\n")
    assert "ended with exit code 3; prs run shows why" in CliRunner().invoke(main, words).stderr
    prs.unlink()
    assert "cannot be started (No such file" in CliRunner().invoke(main, words).stderr
    assert "within the hour" in start_methods.describe_restart(home)
    start_methods.install_start_method(settings, "systemd")
    called = tmp_path / "called"
    (tmp_path / "bin" / "systemctl").write_text(f'#!/bin/sh\necho "$@" > {called}\n')
    assert "prs start" in start_methods.describe_restart(home)
    assert CliRunner().invoke(main, words).stdout == (
        f"systemd has started it: {unit_path(home).name}\n"
    )
    assert called.read_text() == f"--user start {unit_path(home).name}\n"
    called.unlink()
    lock = HomeLock.take(Home(home).lock)
    assert "works here already" in CliRunner().invoke(main, words).stdout
    lock.release()
    assert not called.exists()
    (tmp_path / "bin" / "crontab").write_text("#!/bin/sh\necho not allowed >&2\nexit 1\n")
    unit_path(home).unlink()
    assert "start method is unknown: crontab -l: not allowed" in start_methods.describe_restart(
        home
    )
