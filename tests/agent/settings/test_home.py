"""Small files of the home are there whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.settings import Home
from agent.settings.home import write_whole
from shared.errors import SettingError


def test_folders_are_private(tmp_path: Path) -> None:
    """What an agent keeps can be read by its user only; making it again changes nothing."""
    home = Home(tmp_path / "a" / "prs")
    home.make()
    home.make()
    assert home.path.stat().st_mode & 0o777 == 0o700
    assert home.refused.is_dir()


def test_a_home_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """A file in the way is said, with the remedy."""
    (tmp_path / "prs").write_text("")
    with pytest.raises(SettingError, match="choose another with --home"):
        Home(tmp_path / "prs").make()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """Whatever goes wrong while writing, the old content stays and nothing is left beside it."""
    target = tmp_path / "file"
    assert write_whole(target, [b"old"]) == 3

    def broken() -> Iterator[bytes]:
        yield b"new"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(target, broken())
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]
    assert target.stat().st_mode & 0o777 == 0o600
