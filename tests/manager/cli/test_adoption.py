"""`prsm archive adopt` and `prsm archive trash` beside a manager that serves."""

from __future__ import annotations

from tests.manager.cli.conftest import Prsm
from tests.manager.kept_files import contents, fill_archive
from tests.manager.running import Running


def test_segments_are_taken_out_of_the_trash(manager: Running, prsm: Prsm) -> None:
    """Shown by day, counted in a dry run, entered when it is said so; asked first."""
    fill_archive(manager)
    data = manager.manager.layout.data
    assert prsm("archive", "trash").output == "The trash is empty.\n"
    for name in contents(data):
        manager.manager.archive.reading.trash.take(name, "2026-11-01")
    with manager.manager.db.write() as tx:
        for table in ("archive_changes", "segment_hosts", "segments", "arrivals"):
            tx.connection.exec_driver_sql(f"DELETE FROM {table}")
    shown = prsm("archive", "trash").output
    assert "2026-11-01" in shown
    assert "2026-12-02" in shown
    assert (
        "2 segments with 4 captures would be entered"
        in prsm("archive", "adopt", "--dry-run").output
    )
    assert "Continue?" in prsm("archive", "adopt", stdin="n\n", code=1).output
    assert "2 segments with 4 captures entered" in prsm("archive", "adopt", "--yes").output
    assert prsm("archive", "trash").output == "The trash is empty.\n"
    assert '"segments": 0' in prsm("archive", "adopt", "--yes", "--json").output
