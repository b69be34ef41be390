"""Alembic's own commands, with the `alembic.ini` of this repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from manager.db.migrate import newest_schema

ROOT = Path(__file__).resolve().parents[3]


def alembic(*words: str, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run alembic in the repository, with PRSM_DATA where a data directory is given."""
    environment = {name: value for name, value in os.environ.items() if name != "PRSM_DATA"}
    if data is not None:
        environment["PRSM_DATA"] = str(data)
    return subprocess.run(
        [sys.executable, "-m", "alembic", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_database_goes_up_and_down_and_fits_its_tables(tmp_path: Path) -> None:
    """The steps make just the tables of this version; the newest one can be undone and repeated."""
    url = f"url=sqlite:///{tmp_path / 'prsm.sqlite'}"
    for words in (["upgrade", "head"], ["check"], ["downgrade", "-1"], ["upgrade", "head"]):
        done = alembic("-x", url, *words)
        assert done.returncode == 0, done.stderr
    assert newest_schema() in alembic("-x", url, "current").stdout
    found = alembic("current", data=tmp_path)
    assert newest_schema() in found.stdout, found.stderr


def test_without_a_database_it_says_how_to_name_one() -> None:
    """Nothing is created by chance."""
    done = alembic("current")
    assert done.returncode != 0
    assert "alembic -x url=URL" in done.stderr
