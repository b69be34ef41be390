"""A backup made and restored in places that are not quite as one wishes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.app.maintenance import restore
from manager.app.maintenance.backup import make_backup
from manager.operations.actor import Actor
from manager.settings import read_settings
from manager.store.backup_files import BackupReader, open_backup
from shared.errors import FormatError
from tests.postgres import sqlite_template

__all__ = ["sqlite_template"]

ADMIN = Actor("local", "local")
NOW_MS = 1_790_000_000_000


@pytest.fixture
def backup(tmp_path: Path, sqlite_template: Path) -> Iterator[BackupReader]:
    """Give a backup of a manager in whose folder others left something."""
    data = tmp_path / "data"
    logs = data / "logs" / "1"
    logs.mkdir(parents=True)
    shutil.copyfile(sqlite_template, data / "prsm.sqlite")
    (logs / "whole.parquet").write_bytes(b"rows")
    (logs / ".nfs0001").write_bytes(b"of NFS")
    (data / "logs" / ".snapshot").mkdir()
    (data / "logs" / ".snapshot" / "old.parquet").write_bytes(b"of the file server")
    target = tmp_path / "backup.tar"
    make_backup(read_settings(data), data / "prsm.toml", target, ADMIN, lambda: NOW_MS)
    opened = open_backup(target)
    yield opened
    opened.close()


def test_hidden_files_are_left_out(backup: BackupReader) -> None:
    """They are no manager's, and the rest is whole."""
    files = [one.name for one in backup.manifest.files if one.name.startswith("files/")]
    assert files == ["files/logs/1/whole.parquet"]


def test_a_restore_that_failed_can_be_tried_again(
    tmp_path: Path, backup: BackupReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both folders are as they were, each with what a new file system has."""
    data, files = tmp_path / "new", tmp_path / "files"
    for folder in (data, files):
        (folder / "lost+found").mkdir(parents=True)
    config = tmp_path / "new.toml"
    config.write_text(f'[database]\nfiles_folder = "{files}"\n')

    def broken(*_: object) -> None:
        assert (files / "logs" / "1" / "whole.parquet").exists()
        raise FormatError("the power went")

    with monkeypatch.context() as patched, pytest.raises(FormatError, match="the power went"):
        patched.setattr(restore, "check", broken)
        restore.restore(backup, data, config, ADMIN, lambda: NOW_MS)
    assert [path.name for path in (*data.iterdir(), *files.iterdir())] == ["lost+found"] * 2
    restore.restore(backup, data, config, ADMIN, lambda: NOW_MS)
    assert (files / "logs" / "1" / "whole.parquet").read_bytes() == b"rows"


def test_what_is_there_is_never_removed(tmp_path: Path, backup: BackupReader) -> None:
    """A shared folder of another manager stops the restore, and stays as it is."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "precious").write_bytes(b"1")
    config = tmp_path / "new.toml"
    config.write_text(f'[database]\nfiles_folder = "{files}"\n')
    with pytest.raises(FormatError, match="is not empty"):
        restore.restore(backup, tmp_path / "new", config, ADMIN, lambda: NOW_MS)
    assert (files / "precious").read_bytes() == b"1"
