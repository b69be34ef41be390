"""The trash and adoption on either database."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.operations.segments import archive_upkeep
from tests.manager.kept_files import contents, fill_archive
from tests.manager.running import running
from tests.postgres import database_url, postgres_server, sqlite_template

__all__ = ["database_url", "postgres_server", "sqlite_template"]


def test_segments_go_to_the_trash_and_come_back(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without rows they are moved, adopted they are given away, withdrawn they are rewritten."""
    monkeypatch.setattr(archive_upkeep, "ORPHAN_S", -1.0)
    with running(tmp_path / "data", f'database.url="{database_url}"') as prsm:
        fill_archive(prsm)
        before = contents(tmp_path / "data")
        with prsm.manager.db.write() as tx:
            for table in ("archive_changes", "segment_hosts", "segments", "arrivals"):
                tx.connection.exec_driver_sql(f"DELETE FROM {table}")
        prsm.manager.archive.tidy()
        assert contents(tmp_path / "data") == {}
        assert len(prsm.local.get("/api/v1/archive/trash").json()) == 1
        done = prsm.local.post("/api/v1/archive/adopt", json={}).json()
        assert (done["segments"], done["not_entered_count"]) == (2, 0)
        assert contents(tmp_path / "data").keys() == before.keys()
        prsm.manager.archive.tidy()
        assert contents(tmp_path / "data").keys() == before.keys()
        assert prsm.local.get("/api/v1/archive/trash").json() == []
        prsm.local.post("/api/v1/hosts/exclude", json={"host": "other.example", "reason": "x"})
        compacted = prsm.local.post("/api/v1/archive/compact", json={}).json()
        assert compacted == {"rewritten": 2, "deleted": 0}
        prsm.manager.archive.empty_trash()
