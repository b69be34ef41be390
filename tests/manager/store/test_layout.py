"""The data directory: private, and no name from the network in a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.store import Layout, StoreError


def test_folders_are_made_private(tmp_path: Path) -> None:
    """Everything is made for this user only; making it again changes nothing."""
    layout = Layout(tmp_path / "deep" / "data")
    layout.create()
    layout.create()
    for folder in (layout.data, layout.spool, layout.logs, layout.lists, layout.rejected):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A file where the directory should be is told in words, with what to do."""
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match="--data"):
        Layout(tmp_path / "data").create()


def test_logs_are_named_by_number_and_digest(tmp_path: Path) -> None:
    """A log's path is made from the agent's number and its own digest, nothing else."""
    layout = Layout(tmp_path)
    layout.create()
    digest = "0a" * 32
    assert layout.log_file(7, digest) == tmp_path / "logs" / "7" / f"{digest}.parquet"
    for hostile in ("../" + "a" * 61, "a" * 63, "A" * 64):
        with pytest.raises(AssertionError):
            layout.log_file(7, hostile)


def test_managers_can_share_what_is_kept(tmp_path: Path) -> None:
    """Logs and refused bodies may lie elsewhere; what belongs to one process stays with it."""
    layout = Layout(tmp_path / "one", tmp_path / "shared")
    layout.create()
    assert layout.log_file(7, "0a" * 32).parent == tmp_path / "shared" / "logs" / "7"
    assert sorted(path.name for path in (tmp_path / "shared").iterdir()) == [
        *("archive", "incoming", "logs", "rejected", "releases", "transfers", "uploads"),
    ]
    assert sorted(path.name for path in layout.data.iterdir()) == ["lists", "spool"]
