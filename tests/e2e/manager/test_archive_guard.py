"""`prsm serve` and files or a database that are not its own: refused, and nothing is changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.manager_process import CODE, ManagerProcess, prsm, running_manager
from tests.manager.kept_files import age, contents, fill_archive, sqlite_of
from tests.manager.running import running

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def refused(data: Path, *settings: str) -> str:
    """Return what `prsm serve` says, which ends at once with 1."""
    command = [sys.executable, "-c", CODE, "--data", str(data), "serve"]
    for setting in ("server.listen_port=0", *settings):
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1, done.stderr
    return done.stderr


def test_an_archive_survives_an_emptied_database(tmp_path: Path) -> None:
    """0 bytes beside segments, then another manager's start in their folder; adopted, it serves."""
    data = tmp_path / "data"
    with running(data) as made:
        fill_archive(made, 3)
    age(data)
    before = contents(data)
    (data / "prsm.sqlite").write_bytes(b"")
    said = refused(data)
    assert "prsm.sqlite is missing or empty" in said
    assert "3 segments" in said
    assert "3 segments" in refused(tmp_path / "new", f"database.files_folder={data}")
    assert contents(data) == before
    assert (data / "prsm.sqlite").stat().st_size == 0
    assert "3 segments with 6 captures would be entered" in prsm(
        data, "archive", "adopt", "--dry-run"
    )
    assert "3 segments with 6 captures entered" in prsm(data, "archive", "adopt", "--yes")
    with running_manager(data):
        assert prsm(data, "archive", "trash") == "The trash is empty.\n"
        assert "0 segments" in prsm(data, "archive", "adopt", "--yes")
        assert contents(data).keys() == before.keys()
    assert sqlite_of(data, "SELECT count(*) FROM segments") == [(3,)]


def test_one_manager_for_a_file_of_sqlite(tmp_path: Path) -> None:
    """By a link the second is refused; after a kill it isn't. Commands work beside."""
    one, two = tmp_path / "one", tmp_path / "two"
    two.mkdir()
    with running_manager(one) as first:
        (two / "prsm.sqlite").symlink_to(one / "prsm.sqlite")
        said = refused(two, f"database.files_folder={one}")
        assert "another manager serves this file" in said
        assert prsm(one, "status")
        backup = prsm(one, "backup", str(tmp_path / "copy.tar"))
        assert "rows of" in backup
        assert prsm(one, "migrate", "status").startswith("database 0")
        first.kill()
    other = ManagerProcess(two, f'database.files_folder="{one}"')
    try:
        other.start()
    finally:
        other.close()
