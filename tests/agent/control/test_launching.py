"""The agent finds the launcher of its installation, and has it tell what it could not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent.control.launching import TRY_S, UntoldUpdates, launcher_words
from agent.errors import HomeError

PYTHON = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/called"\n'


def test_only_an_archive_brings_a_launcher(tmp_path: Path) -> None:
    """Whoever was installed otherwise is told so, and has nothing to be told later."""
    with pytest.raises(HomeError, match="not installed from an archive"):
        launcher_words(tmp_path)
    assert not UntoldUpdates(tmp_path).look()


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
    updates = UntoldUpdates(tmp_path / "data", lambda: now_s)
    assert not updates.look()
    (tmp_path / "launcher" / "untold.json").write_text("[]")
    for _ in range(2):
        assert updates.look()
        assert updates.process is not None
        assert updates.process.wait(60) == 0
        assert not updates.look()
        now_s += TRY_S
    called = tmp_path / "current" / "venv" / "bin" / "called"
    home = f"--home {tmp_path} --data {tmp_path}/data"
    assert called.read_text() == f"-I -m launcher {home} --quiet --tell\n" * 2
