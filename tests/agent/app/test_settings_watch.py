"""When the settings file is read again."""

from __future__ import annotations

import os
from pathlib import Path

from agent.app.startup.settings_reload import SettingsWatch


def test_a_changed_file_is_read_once_it_looks_the_same_twice(tmp_path: Path) -> None:
    """An editor that writes in two steps is waited for; then it is due once."""
    file = tmp_path / "prs.toml"
    file.write_text("a")
    rereading = SettingsWatch(file)
    assert not rereading.due()
    file.write_text("ab")
    assert not rereading.due()
    file.write_text("abc")
    assert not rereading.due()
    assert [rereading.due() for _ in range(3)] == [True, False, False]


def test_the_time_alone_is_enough(tmp_path: Path) -> None:
    """Another text of the same length is another text."""
    file = tmp_path / "prs.toml"
    file.write_text("a")
    rereading = SettingsWatch(file)
    os.utime(file, ns=(1, 1))
    assert [rereading.due() for _ in range(3)] == [False, True, False]


def test_a_file_that_is_gone_is_noticed(tmp_path: Path) -> None:
    """Whoever reads it then says what is wrong."""
    file = tmp_path / "prs.toml"
    file.write_text("a")
    rereading = SettingsWatch(file)
    file.unlink()
    assert [rereading.due() for _ in range(3)] == [False, True, False]


def test_whoever_asks_is_served_at_once(tmp_path: Path) -> None:
    """SIGHUP has the file read, changed or not, and once."""
    rereading = SettingsWatch(tmp_path / "prs.toml")
    rereading.request()
    assert [rereading.due() for _ in range(2)] == [True, False]
