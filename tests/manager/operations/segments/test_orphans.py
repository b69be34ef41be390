"""What no row names goes to the trash, whatever it is; what has ended is deleted, there too."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from manager.db.archive import archive_withdrawals
from manager.db.tables import archive_jobs, audit, clients, reports, segments, transfers
from manager.operations.hosts.hosts import exclude_host
from manager.operations.segments import archive_upkeep
from manager.operations.segments.file_problems import list_problems
from manager.operations.segments.trash_contents import empty_trash, trash_days
from manager.store.segments.trash import TrashEntry
from shared.wire.crawl_log import LogLine
from tests.manager.archived import arrived, page, segment_bytes
from tests.manager.distribution.test_withdrawing import plain_of
from tests.manager.kept_files import HOSTS, contents, fill_archive, sqlite_of
from tests.manager.running import LOCAL, START_MS, Running, log_body, running

DAY_S = 86_400


@pytest.fixture
def prsm(tmp_path: Path) -> Iterator[Running]:
    """Return a manager with two segments, for which every file is old."""
    with running(tmp_path) as opened, pytest.MonkeyPatch.context() as patched:
        patched.setattr(archive_upkeep, "ORPHAN_S", -1.0)
        fill_archive(opened)
        yield opened


def forget_rows(prsm: Running) -> None:
    """Let no row name any segment."""
    with prsm.manager.db.write() as tx:
        for table in ("archive_changes", "segment_hosts", "segments", "arrivals"):
            tx.connection.exec_driver_sql(f"DELETE FROM {table}")


def trashed(prsm: Running) -> list[TrashEntry]:
    """Return what lies in the trash."""
    return list(prsm.manager.archive.reading.trash.entries())


def alerts(prsm: Running, action: str) -> list[dict[str, object]]:
    """Return the details of alerts of an action."""
    with prsm.manager.db.read() as tx:
        rows = tx.execute(
            audit.select().where(audit.c.action == action, audit.c.alert.is_(True))
        ).all()
    return [json.loads(row.detail) for row in rows]


def test_what_rows_name_stays(prsm: Running, tmp_path: Path) -> None:
    """Nothing is moved, nothing is told."""
    before = contents(tmp_path)
    prsm.manager.archive.tidy()
    assert contents(tmp_path) == before
    assert trashed(prsm) == []
    assert alerts(prsm, "trash.add") == []


def test_files_of_every_kind_go_to_the_trash(prsm: Running, tmp_path: Path) -> None:
    """Segments, indexes, uploads, selections, releases: the bytes lie there under their names."""
    layout = prsm.manager.layout
    (layout.uploads / f"{'a' * 32}.part").write_bytes(b"part")
    (layout.incoming / f"{'b' * 32}.warc.gz").write_bytes(b"whole")
    (layout.results / "7.result").write_bytes(b"result")
    (layout.results / "99999999999999999999.result").write_bytes(b"no number of ours")
    (layout.releases / ("c" * 64)).write_bytes(b"bundle")
    forget_rows(prsm)
    before = contents(tmp_path)
    assert archive_upkeep.remove_orphans(prsm.manager.db, prsm.manager.archive.reading) == 2
    assert contents(tmp_path) == {}
    found = {e.name: (tmp_path / "trash" / e.day / e.name).read_bytes() for e in trashed(prsm)}
    assert found == before
    (told,) = alerts(prsm, "trash.add")
    assert (told["segments"], told["indexes"], told["uploads"]) == (2, 4, 2)
    assert [day.files for day in trash_days(prsm.manager.archive.reading, DAY_S)] == [11]


def test_young_files_are_left_alone(prsm: Running, tmp_path: Path) -> None:
    """An arrival puts its file there before its row."""
    forget_rows(prsm)
    before = contents(tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(archive_upkeep, "ORPHAN_S", float(DAY_S))
        prsm.manager.archive.tidy()
    assert contents(tmp_path) == before


def test_names_of_others_are_left_alone(prsm: Running, tmp_path: Path) -> None:
    """What no manager would have called so is nobody's business."""
    folder = next((tmp_path / "archive/segments").iterdir())
    (folder / "mine.warc.gz").write_bytes(b"x")
    prsm.manager.archive.tidy()
    assert (folder / "mine.warc.gz").exists()


def test_what_has_ended_is_deleted(prsm: Running, tmp_path: Path) -> None:
    """A segment, an upload and a result whose rows say so: directly, in place and in the trash."""
    db, reading = prsm.manager.db, prsm.manager.archive.reading
    (gone, _) = list(reading.store.listed())
    upload = tmp_path / "uploads" / f"{'a' * 32}.part"
    result = tmp_path / "archive/results/1.result"
    with db.write() as tx:
        tx.execute(segments.update().where(segments.c.key == gone[0]).values(state="gone"))
        tx.insert(clients, [{"name": "a", "registered_ms": 0}])
        job = {"id": 1, "token": "t", "client_id": 1, "function": "extract-zip", "query": ""}
        tx.insert(archive_jobs, [{**job, "state": "gone", "submitted_ms": 0}])
        transfer = {"key": "a" * 32, "agent_id": 1, "filename": "f", "sha256": "s", "way": "push"}
        times = {"begun_ms": 0, "changed_ms": 0, "state": "expired", "gaps": ""}
        tx.insert(transfers, [{**transfer, **times, "size_bytes": 1}])
    for path in (upload, result):
        path.write_bytes(b"x")
        copy = tmp_path / "trash" / "2026-01-01" / path.relative_to(tmp_path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(b"x")
    copy = tmp_path / "trash/2026-01-01/archive/segments" / gone[0]
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"x")
    prsm.manager.archive.tidy()
    assert trashed(prsm) == []
    assert len(contents(tmp_path)) == 3  # the other segment and its indexes
    assert alerts(prsm, "trash.add") == []


def test_what_a_row_needs_is_given_back(prsm: Running, tmp_path: Path) -> None:
    """A database that was away for a while finds its files again."""
    reading = prsm.manager.archive.reading
    before = contents(tmp_path)
    for name in before:
        reading.trash.take(name, "2026-11-01")
    assert contents(tmp_path) == {}
    prsm.manager.archive.tidy()
    assert contents(tmp_path) == before
    assert not any((tmp_path / "trash").iterdir())
    (told,) = alerts(prsm, "trash.restore")
    assert told["segments"] == 2


def test_the_trash_is_emptied_in_small_shares(prsm: Running, tmp_path: Path) -> None:
    """After its time, the oldest first; at least one file, at most the share; each is told."""
    db, reading = prsm.manager.db, prsm.manager.archive.reading
    for day in ("2026-11-01", "2026-11-02"):
        folder = tmp_path / "trash" / day / "uploads"
        folder.mkdir(parents=True)
        for number in range(50):
            (folder / f"{number:032x}.part").write_bytes(b"part")
    at_s = 1_793_664_000.0  # 2026-11-03
    assert empty_trash(db, reading, 2 * DAY_S, 0.05, at_s).files == 0
    done = empty_trash(db, reading, DAY_S, 0.05, at_s)
    assert (done.files, done.size_bytes, done.left) == (5, 20, 45)
    assert len(trashed(prsm)) == 95
    assert {entry.day for entry in trashed(prsm)} == {"2026-11-01", "2026-11-02"}
    assert empty_trash(db, reading, DAY_S, 0.0001, at_s).files == 1
    assert [told["files"] for told in alerts(prsm, "trash.empty")] == [5, 1]
    assert empty_trash(db, reading, DAY_S, 1.0, at_s + DAY_S).files == 94
    assert trashed(prsm) == []


def test_a_take_down_reaches_the_trash(prsm: Running, tmp_path: Path) -> None:
    """Segments are rewritten there; uploads and results that hold the host are deleted."""
    forget_rows(prsm)
    archive_upkeep.remove_orphans(prsm.manager.db, prsm.manager.archive.reading)
    (day,) = {entry.day for entry in trashed(prsm)}
    uploads = tmp_path / "trash" / day / "uploads"
    uploads.mkdir()
    doomed = segment_bytes([page("http://other.example/x", b"FORGET")])
    (uploads / f"{'a' * 32}.part").write_bytes(doomed[:-3])
    kept = segment_bytes([page("http://www.example.jp/x", b"KEEP")])
    (uploads / f"{'b' * 32}.part").write_bytes(kept)
    prsm.local.post("/api/v1/hosts/exclude", json={"host": "other.example", "reason": "x"})
    prsm.local.post("/api/v1/archive/compact", json={})
    names = {entry.name for entry in trashed(prsm)}
    assert f"uploads/{'b' * 32}.part" in names
    assert f"uploads/{'a' * 32}.part" not in names
    assert len([name for name in names if name.startswith("archive/segments")]) == 2
    for entry in trashed(prsm):
        data = (tmp_path / "trash" / entry.day / entry.name).read_bytes()
        if not entry.name.startswith("uploads"):
            plain = plain_of(data)
            assert b"other.example" not in plain
            assert b"www.example.jp" in plain or b"jp,example" in plain
        if entry.key:
            assert hashlib.sha256(data).hexdigest() in entry.key
    assert {entry.day for entry in trashed(prsm)} == {day}


def test_a_segment_of_the_host_alone_is_deleted(prsm: Running, tmp_path: Path) -> None:
    """Nothing is left of it, nor of one whose index is lost."""
    forget_rows(prsm)
    archive_upkeep.remove_orphans(prsm.manager.db, prsm.manager.archive.reading)
    for entry in trashed(prsm):
        if entry.name.startswith("archive/index"):
            (tmp_path / "trash" / entry.day / entry.name).unlink()
    prsm.local.post("/api/v1/hosts/exclude", json={"host": "other.example", "reason": "x"})
    prsm.local.post("/api/v1/archive/compact", json={})
    assert trashed(prsm) == []


def test_an_index_without_its_segment(prsm: Running, tmp_path: Path) -> None:
    """It names URLs of the host: it goes, and that of other hosts stays."""
    forget_rows(prsm)
    shutil.rmtree(tmp_path / "archive/segments")
    (tmp_path / "archive/segments").mkdir()
    archive_upkeep.remove_orphans(prsm.manager.db, prsm.manager.archive.reading)
    assert len(trashed(prsm)) == 4
    prsm.local.post("/api/v1/hosts/exclude", json={"host": "other.example", "reason": "x"})
    prsm.local.post("/api/v1/archive/compact", json={})
    assert trashed(prsm) == []


def test_an_arrival_makes_an_old_file_new(prsm: Running, tmp_path: Path) -> None:
    """The same bytes come again while they lie there unnamed: their row is on its way."""
    store = prsm.manager.archive.store
    (first, *_) = list(store.listed())
    file = arrived(tmp_path, b"x")
    before = (tmp_path / "archive/segments" / first[0]).stat().st_mtime_ns
    store.put(file.path, first[0])
    assert (tmp_path / "archive/segments" / first[0]).stat().st_mtime_ns > before


def log_of(prsm: Running, minute: str) -> Path:
    """Let a crawl log come; return the file of its lines."""
    before = set(prsm.manager.layout.logs.rglob("*.parquet"))
    line = LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")
    agent = prsm.agent(f"log{minute[-4:]}.example")
    agent.send_log(log_body(agent.name, [line], minute)).raise_for_status()
    (new,) = set(prsm.manager.layout.logs.rglob("*.parquet")) - before
    return new


def test_a_crawl_log_that_no_row_names_goes_to_the_trash(prsm: Running, tmp_path: Path) -> None:
    """As after a restore of an older backup; where its row comes back it is given back."""
    named, unnamed = log_of(prsm, "202611211000"), log_of(prsm, "202611211001")
    lines, database = unnamed.read_bytes(), prsm.manager.db
    name = unnamed.relative_to(tmp_path).as_posix()
    with database.write() as tx:
        row = tx.execute(reports.select().where(reports.c.path == name)).one()
        tx.execute(reports.delete().where(reports.c.path == name))
    prsm.manager.archive.tidy()
    assert named.exists()
    assert not unnamed.exists()
    (entry,) = trashed(prsm)
    assert (entry.name, (tmp_path / "trash" / entry.day / entry.name).read_bytes()) == (name, lines)
    assert alerts(prsm, "trash.add")[0]["logs"] == 1
    with database.write() as tx:
        tx.execute(reports.insert().values(**row._mapping))
    prsm.manager.archive.tidy()
    assert unnamed.read_bytes() == lines
    assert trashed(prsm) == []


def test_a_log_whose_lines_were_forgotten_is_deleted(prsm: Running, tmp_path: Path) -> None:
    """`intake.log_retention_s` never goes through the trash, and removes what lies there."""
    here, there = log_of(prsm, "202611211000"), log_of(prsm, "202611211001")
    reading = prsm.manager.archive.reading
    reading.trash.take(there.relative_to(tmp_path).as_posix(), "2026-11-01")
    with prsm.manager.db.write() as tx:
        tx.execute(reports.update().values(path=""))
    prsm.manager.archive.tidy()
    assert not here.exists()
    assert trashed(prsm) == []
    assert alerts(prsm, "trash.add") == []


def folder_instead(path: Path) -> None:
    """Put a folder in the place of a file."""
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path, Path], object]] = {
    "no segment": lambda segment, _: segment.unlink(),
    "segment cut off": lambda segment, _: segment.write_bytes(segment.read_bytes()[:200]),
    "segment is a folder": lambda segment, _: folder_instead(segment),
    "no index": lambda _, index: index.unlink(),
    "index cut off": lambda _, index: index.write_bytes(index.read_bytes()[:100]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_segment_holds_no_take_down_up(tmp_path: Path, damage: str) -> None:
    """It stays withdrawn, is told and asked for again; the others are rewritten, the trash too."""
    with running(tmp_path) as prsm:
        fill_archive(prsm, 3)
        manager = prsm.manager
        exclude_host(manager.db, HOSTS[0], "asked", LOCAL, START_MS)
        with manager.db.read() as tx:
            first = archive_withdrawals.to_rewrite(tx)
        assert first is not None
        path = manager.archive.store.path(first.key)
        assert path is not None
        DAMAGES[damage](path, manager.layout.index_file(first.key))
        assert manager.archive.compact() == (2, 0)
        assert manager.archive.compact() == (0, 0)
        assert sqlite_of(tmp_path, "SELECT name FROM segments WHERE state = 'withdrawn'") == [
            (first.name,)
        ]
        (problem, *_) = list_problems(manager.db)
        assert problem.subject == first.name
        assert problem.answer == "no_agent"  # a plain one


def test_what_is_damaged_in_the_trash_goes_with_its_host(prsm: Running, tmp_path: Path) -> None:
    """Nothing can be taken out of it, so nothing of it is kept; the others are rewritten."""
    forget_rows(prsm)
    archive_upkeep.remove_orphans(prsm.manager.db, prsm.manager.archive.reading)
    one, other = (tmp_path / "trash").rglob("*.warc.gz")
    one.write_bytes(one.read_bytes()[:200])
    prsm.local.post("/api/v1/hosts/exclude", json={"host": "other.example", "reason": "x"})
    prsm.manager.archive.compact()
    (left,) = (tmp_path / "trash").rglob("*.warc.gz")
    assert not one.exists()
    assert not other.exists()
    assert b"other.example" not in plain_of(left.read_bytes())


def test_a_damaged_copy_replaces_no_whole_one_in_the_trash(prsm: Running, tmp_path: Path) -> None:
    """Both lie there; what a row needs is given back whole."""
    reading = prsm.manager.archive.reading
    (key, _), *_ = list(reading.store.listed())
    path = reading.store.path(key)
    assert path is not None
    whole = path.read_bytes()
    name = path.relative_to(tmp_path).as_posix()
    reading.trash.take(name, "2026-01-01")
    path.write_bytes(whole[:100])
    reading.trash.take(name, "2026-01-01")
    path.write_bytes(whole)
    reading.trash.take(name, "2026-01-01")  # the same again
    assert sorted(entry.size_bytes for entry in trashed(prsm)) == [100, len(whole)]
    prsm.manager.archive.put_back(LOCAL)
    assert path.read_bytes() == whole
