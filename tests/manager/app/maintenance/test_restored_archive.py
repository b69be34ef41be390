"""A restore of a backup that is older than some segments: nothing of these is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

from manager.app.maintenance import restore
from manager.app.maintenance.backup import make_backup
from manager.operations.actor import Actor
from manager.settings import read_settings
from manager.store.backup_files import open_backup
from tests.manager.archived import collected, hold, page
from tests.manager.kept_files import age, contents, fill_archive, sqlite_of
from tests.manager.running import START_MS, running

ADMIN = Actor("local", "local")
LATER = "http://later.example:80/"
NEWER = "x-20261122000000-00009-a.example.warc.gz"


def test_segments_that_came_after_the_backup_are_kept_and_adopted(tmp_path: Path) -> None:
    """They go to the trash when they are old, each byte of them, and adoption enters them again."""
    data, new = tmp_path / "data", tmp_path / "new"
    with running(data) as prsm:
        fill_archive(prsm, segments=1)
    target = tmp_path / "backup.tar"
    make_backup(read_settings(data), data / "prsm.toml", target, ADMIN, lambda: START_MS)
    with running(data) as prsm:
        agent = prsm.agent("b.example")
        hold(prsm, agent, LATER)
        collected(prsm, agent, [page(f"{LATER}later", b"<p>later")], NEWER)
    opened = open_backup(target)
    restore.restore(opened, new, None, ADMIN, lambda: START_MS)
    opened.close()
    old, all_of_it = contents(new), contents(data)
    for name in sorted(all_of_it.keys() - old.keys()):
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(data / name, new / name)
    newer = [body for name, body in all_of_it.items() if name.endswith(".gz") and name not in old]
    assert len(newer) == 1
    age(new)
    with running(new) as prsm:
        prsm.clock.advance(3 * 86_400)
        prsm.manager.archive.tidy()
        bodies = [path.read_bytes() for path in new.rglob("*.gz") if path.is_file()]
        assert newer[0] in bodies, "what no row names is kept"
        assert len(sqlite_of(new, "SELECT 1 FROM segments")) == 1
        adopted = prsm.local.post("/api/v1/archive/adopt", json={})
        assert adopted.status_code == 200, adopted.text
        assert adopted.json()["segments"] == 1
        assert len(sqlite_of(new, "SELECT 1 FROM segments")) == 2
        prsm.manager.archive.tidy()
    assert newer[0] in [path.read_bytes() for path in (new / "archive").rglob("*.gz")]
