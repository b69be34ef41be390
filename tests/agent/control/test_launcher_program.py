"""The agent finds the launcher of its installation, and has it tell what it could not."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from agent.control.launcher_program import OVERDUE_S, TRY_S, LauncherProgram, launcher_words
from agent.errors import HomeError

PYTHON = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/called"\n'


def test_only_an_archive_brings_a_launcher(tmp_path: Path) -> None:
    """Whoever was installed otherwise is told so, and has nothing to be told later."""
    with pytest.raises(HomeError, match="not installed from an archive"):
        launcher_words(tmp_path)
    assert not LauncherProgram(tmp_path).start_if_due(is_open=True)


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local", "/", "/venv", "/versions/1.0/venv"])
def test_a_python_that_lies_shallow_brings_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    """As in a container, where packages go to /usr/local."""
    monkeypatch.setattr(sys, "prefix", prefix)
    assert not LauncherProgram(tmp_path).start_if_due(is_open=True)
    if prefix != "/versions/1.0/venv":
        with pytest.raises(HomeError, match="not installed from an archive"):
            launcher_words(tmp_path)


def test_what_was_not_told_is_told_when_the_manager_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is there, by the release that is current, and not with each sync."""
    binaries = tmp_path / "versions" / "1.0" / "venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text(PYTHON)
    (binaries / "python").chmod(0o755)
    (tmp_path / "current").symlink_to("versions/1.0")
    (tmp_path / "launcher").mkdir()
    monkeypatch.setattr(sys, "prefix", str(binaries.parent))
    monkeypatch.delenv("INVOCATION_ID", raising=False)
    now_s = 5.0
    updates = LauncherProgram(tmp_path / "data", lambda: now_s)
    assert not updates.start_if_due(is_open=True)
    (tmp_path / "launcher" / "untold.json").write_text("[]")
    for _ in range(2):
        assert updates.start_if_due(is_open=True)
        assert updates.process is not None
        assert updates.process.wait(60) == 0
        assert not updates.start_if_due(is_open=True)
        now_s += TRY_S
    monkeypatch.setenv("INVOCATION_ID", "0123")
    monkeypatch.setenv("PATH", f"{binaries}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    shutil.copy(binaries / "python", binaries / "systemd-run")
    # A service of the machine's own systemd, whose user has none: it could only say no.
    assert updates.start_if_due(is_open=True)
    assert updates.process is not None
    assert updates.process.wait(60) == 0
    now_s += TRY_S
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "bus").touch()
    assert updates.start_if_due(is_open=True)
    assert updates.process.wait(60) == 0
    called = tmp_path / "current" / "venv" / "bin" / "called"
    home = f"--home {tmp_path} --data {tmp_path}/data"
    assert called.read_text() == (
        f"-I -m launcher {home} --quiet --tell\n" * 3
        + "--user --collect --quiet --property=KillMode=process "
        + f"{tmp_path}/current/venv/bin/python -I -m launcher {home} --quiet --tell\n"
    )


def test_a_look_that_nobody_had_is_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is off when cron would look: in its hours, once, and not where it could not.

    A clock that was ahead when it looked last keeps nobody from looking.
    """
    release = tmp_path / "versions" / "1.0"
    binaries = release / "venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text(PYTHON)
    (binaries / "python").chmod(0o755)
    (release / "complete").touch()
    (tmp_path / "current").symlink_to("versions/1.0")
    (tmp_path / "launcher").mkdir()
    monkeypatch.setattr(sys, "prefix", str(binaries.parent))
    monkeypatch.delenv("INVOCATION_ID", raising=False)
    installed_s = (release / "complete").stat().st_mtime
    now_s, epoch_s = 5.0, installed_s + OVERDUE_S

    def launching() -> LauncherProgram:
        return LauncherProgram(tmp_path / "data", lambda: now_s, lambda: epoch_s)

    assert not launching().start_if_due(is_open=True), "without a root it could believe nothing"
    (tmp_path / "launcher" / "root.json").touch()
    assert not launching().start_if_due(is_open=False)
    one = launching()
    assert one.start_if_due(is_open=True)
    assert one.process is not None
    assert one.process.wait(60) == 0
    assert not launching().start_if_due(is_open=True), "the process before it tried"
    now_s += OVERDUE_S - 1
    assert not one.start_if_due(is_open=True), "it tried"
    now_s += 1
    tried = tmp_path / "launcher" / "tried"
    os.utime(tried, (installed_s, installed_s))
    assert one.start_if_due(is_open=True)
    assert one.process.wait(60) == 0
    assert (binaries / "called").read_text() == (
        f"-I -m launcher --home {tmp_path} --data {tmp_path}/data --quiet\n" * 2
    )
    os.utime(tried, (installed_s, installed_s))
    os.utime(release / "complete", (epoch_s - 60, epoch_s - 60))
    assert not launching().start_if_due(is_open=True), "it is as new as that"
    os.utime(release / "complete", (installed_s, installed_s))
    looked = tmp_path / "launcher" / "looked"
    looked.touch()
    for ago_s, is_overdue in ((60, False), (OVERDUE_S + 1, True), (-3600, True)):
        os.utime(looked, (epoch_s - ago_s, epoch_s - ago_s))
        os.utime(tried, (installed_s, installed_s))
        one = launching()
        assert one.start_if_due(is_open=True) == is_overdue, ago_s
        if one.process is not None:
            assert one.process.wait(60) == 0
