"""One manager serves a file of SQLite, by whatever directory and name it is opened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from manager.app.locks import DatabaseLock
from manager.store import StoreError
from tests.manager.kept_files import sqlite_of, start
from tests.manager.running import running


def link(kind: str, folder: Path, source: Path) -> str:
    """Return the setting by which another directory opens the same file."""
    folder.mkdir()
    target = folder / "linked.sqlite"
    if kind == "symlink":
        target.symlink_to(source)
    elif kind == "hard link":
        target.hardlink_to(source)
    elif kind == "linked folder":
        (folder / "linked").symlink_to(source.parent)
        target = folder / "linked" / source.name
    else:
        target = source
    return f'database.url="sqlite:///{target}"'


@pytest.mark.parametrize("kind", ["path", "symlink", "hard link", "linked folder"])
def test_a_second_directory_is_refused(tmp_path: Path, kind: str) -> None:
    """Two data directories, one database: the second hears what to do, and changes nothing."""
    with running(tmp_path / "one"):
        url = link(kind, tmp_path / "two", tmp_path / "one" / "prsm.sqlite")
        with pytest.raises(StoreError, match=r"another manager serves this file.*PostgreSQL"):
            start(tmp_path / "two", url, f"database.files_folder={tmp_path / 'one'}")
        assert sqlite_of(tmp_path / "one", "SELECT count(*) FROM managers") == [(1,)]
    start(tmp_path / "two", url, f"database.files_folder={tmp_path / 'one'}")


def test_a_killed_process_gives_it_back(tmp_path: Path) -> None:
    """The kernel does, so the next start needs no help."""
    path = tmp_path / "prsm.sqlite"
    code = (
        "import sys, time; from pathlib import Path\n"
        "from manager.app.locks import DatabaseLock\n"
        "lock = DatabaseLock(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError):
            DatabaseLock(path)
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        DatabaseLock(path).close()


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    """A folder in its place is told as such."""
    (tmp_path / "prsm.sqlite").mkdir()
    with pytest.raises(StoreError, match=r"prsm\.sqlite: Is a directory"):
        DatabaseLock(tmp_path / "prsm.sqlite")
