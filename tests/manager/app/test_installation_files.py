"""A database and files that are not of one installation refuse each other, and nothing is lost."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from manager.app.archive_keeper import store_of
from manager.app.composition import layout_of
from manager.app.maintenance.migration import change_schema
from manager.cli import main
from manager.cli.options import Target
from manager.db.engine import Database
from manager.db.migrate import schema_version
from manager.operations.identity.installation import InstallationError, Mismatch, installation_id
from manager.settings import read_settings
from manager.store import StoreError, owner_marks
from manager.store.owner_marks import LEASE, MARK, Mark, locations_of
from shared.wire.crawl_log import LogLine
from tests.manager.kept_files import age, contents, fill_archive, sqlite_of, start, unmark
from tests.manager.running import START_MS, log_body, running
from tests.manager.s3_server import s3
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server", "s3"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with two segments, whose manager has ended; all are two days old."""
    folder = tmp_path / "data"
    with running(folder) as prsm:
        fill_archive(prsm)
        (prsm.manager.layout.uploads / f"{'a' * 32}.part").write_bytes(b"part")
        (prsm.manager.layout.results / "7.result").write_bytes(b"result")
    age(folder)
    return folder


def refused(reason: Mismatch, folder: Path, *settings: str) -> InstallationError:
    """Return how a start is refused."""
    with pytest.raises(InstallationError) as caught:
        start(folder, *settings)
    assert caught.value.reason is reason
    return caught.value


def test_its_own_database_serves(data: Path) -> None:
    """Again and again, and the mark stays."""
    before = contents(data)
    start(data)
    start(data)
    assert contents(data) == before
    assert Mark.decoded((data / MARK).read_bytes()).installation == str(
        sqlite_of(data, "SELECT uuid FROM installation")[0][0]
    )


def test_an_emptied_database_is_refused(data: Path) -> None:
    """0 bytes beside data: neither the file nor anything else is changed."""
    before = contents(data)
    (data / "prsm.sqlite").write_bytes(b"")
    error = refused(Mismatch.NO_DATABASE, data)
    assert "prsm.sqlite is missing or empty" in str(error)
    assert "2 segments" in str(error)
    assert "prsm restore" in str(error)
    assert "prsm archive adopt" in str(error)
    assert (data / "prsm.sqlite").stat().st_size == 0
    assert contents(data) == before


def test_a_missing_database_is_refused(data: Path) -> None:
    """It isn't made silently."""
    (data / "prsm.sqlite").unlink()
    refused(Mismatch.NO_DATABASE, data)
    assert not (data / "prsm.sqlite").exists()


def test_a_database_without_tables_is_refused(data: Path) -> None:
    """A file of SQLite that somebody made anew is as empty as one of 0 bytes."""
    (data / "prsm.sqlite").unlink()
    sqlite_of(data, "PRAGMA user_version = 1")
    sqlite_of(data, "VACUUM")
    refused(Mismatch.NO_DATABASE, data)
    assert sqlite_of(data, "SELECT count(*) FROM sqlite_master") == [(0,)]


def test_a_database_without_rows_is_refused(data: Path) -> None:
    """All tables and another id, as another version's first start would leave them."""
    (data / "prsm.sqlite").unlink()
    error = None
    with pytest.raises(InstallationError) as caught, running(data):
        pass
    error = caught.value
    assert error.reason is Mismatch.FOREIGN_FILES
    assert error.here in str(error)
    assert error.there in str(error)
    assert error.here != error.there


def test_a_database_without_its_id_is_refused(data: Path) -> None:
    """The row was deleted by hand."""
    sqlite_of(data, "DELETE FROM installation")
    with pytest.raises(Exception, match="prsm restore"):
        start(data)


@pytest.mark.parametrize("kind", ["archive/segments", "archive/index", "uploads", "logs"])
def test_files_of_any_kind_are_data(tmp_path: Path, kind: str) -> None:
    """A new database is refused beside files of each kind, also without a mark."""
    folder = tmp_path / kind / ("7" if kind != "uploads" else "")
    folder.mkdir(parents=True)
    ending = {"archive/segments": ".warc.gz", "uploads": ".part"}.get(kind, ".parquet")
    (folder / f"{'0' * 64}{ending}").write_bytes(b"x")
    refused(Mismatch.NO_DATABASE, tmp_path)


def test_a_journal_without_its_database_is_kept(tmp_path: Path) -> None:
    """SQLite would delete it when it makes the database anew."""
    journal = tmp_path / "prsm.sqlite-wal"
    journal.write_bytes(b"changes")
    with pytest.raises(StoreError, match="-wal"):
        start(tmp_path)
    assert journal.read_bytes() == b"changes"


def test_a_new_manager_with_anothers_folder(data: Path, tmp_path: Path) -> None:
    """`database.files_folder` points at another's folder: the new database isn't made."""
    before = contents(data)
    refused(Mismatch.NO_DATABASE, tmp_path / "new", f"database.files_folder={data}")
    assert not (tmp_path / "new" / "prsm.sqlite").exists()
    assert contents(data) == before


def test_an_old_manager_with_anothers_folder(data: Path, tmp_path: Path) -> None:
    """Its rows name none of the files: both ids are said."""
    start(tmp_path / "other")
    before = contents(data)
    error = refused(Mismatch.FOREIGN_FILES, tmp_path / "other", f"database.files_folder={data}")
    assert "database.files_folder" in str(error)
    assert contents(data) == before


def test_a_folder_without_a_mark_needs_rows(data: Path, tmp_path: Path) -> None:
    """Before the upgrade nobody was marked: a database that names none of the files is foreign."""
    start(tmp_path / "other")
    unmark(data)
    refused(Mismatch.UNNAMED_FILES, tmp_path / "other", f"database.files_folder={data}")
    assert not (data / MARK).exists()


def test_an_upgrade_adopts_what_is_whole(data: Path) -> None:
    """Rows name the files, and all are there."""
    unmark(data)
    start(data)
    assert (data / MARK).exists()


def test_an_upgrade_after_a_step_back_keeps_the_id(data: Path, tmp_path: Path) -> None:
    """The older version knows no id; its files do, and so do its agents."""
    before = sqlite_of(data, "SELECT uuid FROM installation")
    change_schema(read_settings(data), "0035", START_MS + 3_600_000)
    assert sqlite_of(data, "SELECT name FROM sqlite_master WHERE name = 'installation'") == []
    start(data)
    assert sqlite_of(data, "SELECT uuid FROM installation") == before
    start(tmp_path / "other")
    change_schema(read_settings(tmp_path / "other"), "0035", START_MS + 3_600_000)
    refused(Mismatch.FOREIGN_FILES, tmp_path / "other", f"database.files_folder={data}")


def test_an_upgrade_refuses_what_is_not_whole(data: Path) -> None:
    """One file of a row is gone: it may be another's folder, or not mounted."""
    unmark(data)
    next((data / "archive/index").rglob("*.parquet")).unlink()
    error = refused(Mismatch.MISSING_FILES, data)
    assert "archive/index/" in str(error)
    assert "prsm archive adopt" in str(error)


def test_a_folder_that_is_not_mounted(data: Path) -> None:
    """Neither marks nor files are there, and rows name some."""
    shutil.rmtree(data / "archive")
    unmark(data)
    refused(Mismatch.MISSING_FILES, data)


@pytest.mark.parametrize("folder", ["archive", "archive/segments", "archive/index", "logs"])
def test_a_folder_of_it_that_is_not_mounted(data: Path, tmp_path: Path, folder: str) -> None:
    """The place where it is mounted is empty: nothing is written there; mounted, it serves."""
    with running(data) as prsm:
        agent = prsm.agent("b.example")
        line = LogLine("http://www.example.jp/", 1, 2, 3, b"")
        assert agent.send_log(log_body(agent.name, [line])).status_code == 200
    before = contents(data)
    (data / folder).rename(tmp_path / "disk")
    (data / folder).mkdir()
    error = refused(Mismatch.MISSING_FILES, data)
    assert "Mount the folder" in str(error)
    assert not [path for path in (data / folder).rglob("*") if path.is_file()]
    shutil.rmtree(data / folder)
    (tmp_path / "disk").rename(data / folder)
    start(data)
    assert contents(data) == before


def test_a_folder_that_is_bound_from_elsewhere_has_its_own_mark(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the same file system mounted there: what the kernel lists says so."""
    folder = data / "uploads"
    spaced = str(folder).replace("a", "\\141", 1)
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 2 0:1 / / rw - ext4 x rw\n3 1 0:1 /x {spaced} rw - ext4 x rw\nodd\n")
    monkeypatch.setattr(owner_marks, "MOUNTS", mounts)
    start(data)
    assert (folder / MARK).exists()
    (folder / MARK).write_bytes(Mark("another").encoded())
    assert refused(Mismatch.FOREIGN_FILES, data).place.endswith("uploads")


def test_folders_that_were_lost_are_gone_on_without_by_hand(data: Path) -> None:
    """One file that is gone is a matter of the check, all of a kind are a person's."""
    lost = next((data / "archive" / "segments").glob("*/*"))
    lost.unlink()
    start(data)
    shutil.rmtree(data / "archive" / "segments")
    refused(Mismatch.MISSING_FILES, data)
    arguments = ["archive", "adopt", "--yes"]
    assert CliRunner().invoke(main, arguments, obj=Target(data, None)).exit_code == 0
    start(data)


def test_a_backup_without_captures_is_restored_and_served(data: Path, tmp_path: Path) -> None:
    """Whoever restores it knows that none are there."""
    new, target = tmp_path / "new", str(tmp_path / "backup.tar")
    for folder, arguments in (
        (data, ["backup", "--without-archive", target]),
        (new, ["restore", target]),
    ):
        done = CliRunner().invoke(main, ["--data", str(folder), *arguments])
        assert done.exit_code == 0, done.output
    start(new)


@pytest.mark.parametrize("inside", ["archive", "archive/segments", "trash/2020-01-01", "logs/7"])
def test_files_inside_anothers_folders_are_refused(data: Path, tmp_path: Path, inside: str) -> None:
    """The other's jobs move and delete what lies there."""
    with pytest.raises(InstallationError) as caught:
        start(tmp_path / "new", f"database.files_folder={data / inside}")
    assert caught.value.reason in (Mismatch.FOREIGN_FILES, Mismatch.NO_DATABASE)
    start(tmp_path / "beside", f"database.files_folder={data / 'beside'}")


def test_a_trash_alone_is_data(tmp_path: Path) -> None:
    """A new database would empty it."""
    kept = tmp_path / "data" / "trash" / "2020-01-01" / "archive" / "segments" / "1"
    kept.mkdir(parents=True)
    (kept / f"{'a' * 64}.warc.gz").write_bytes(b"x")
    error = refused(Mismatch.NO_DATABASE, tmp_path / "data")
    assert "1 file in the trash" in str(error)


@pytest.mark.parametrize("name", [MARK, LEASE])
def test_a_mark_that_is_no_file(data: Path, name: str) -> None:
    """A folder, a link to itself or to nowhere: the path is said, and what to do."""
    path = data / name
    path.unlink(missing_ok=True)
    path.mkdir()
    with pytest.raises(StoreError, match=re.escape(str(path))):
        start(data)
    path.rmdir()
    for target in (name, "nowhere"):
        path.symlink_to(target)
        with pytest.raises(StoreError, match=re.escape(str(path))):
            start(data)
        path.unlink()


@pytest.mark.parametrize("folder", ["archive/segments", "trash", "logs"])
def test_a_link_to_what_is_not_mounted(data: Path, tmp_path: Path, folder: str) -> None:
    """It leads nowhere: that is said, not that a file exists."""
    if (data / folder).exists():
        (data / folder).rename(tmp_path / "away")
    (data / folder).symlink_to(tmp_path / "not" / "mounted")
    with pytest.raises(StoreError, match="which is not a folder; mount its file system"):
        start(data)


def test_an_unreadable_mark_is_no_mark(data: Path) -> None:
    """It isn't taken for a folder without one."""
    for rubbish in (b"", b"\xff", b"[]", b'{"installation": 5}'):
        (data / MARK).write_bytes(rubbish)
        refused(Mismatch.UNREADABLE_MARK, data)


def test_a_folder_that_lies_apart_has_its_own_mark(data: Path, tmp_path: Path) -> None:
    """Uploads on another disk, by a link: of another installation they are refused."""
    start(tmp_path / "other")
    elsewhere = tmp_path / "disk"
    shutil.move(data / "uploads", elsewhere)
    (data / "uploads").symlink_to(elsewhere)
    start(data)
    assert (elsewhere / MARK).exists()
    (elsewhere / MARK).write_bytes(Mark("another").encoded())
    error = refused(Mismatch.FOREIGN_FILES, data)
    assert error.place.endswith("uploads")


def test_a_copy_is_refused_while_the_first_lives(data: Path, tmp_path: Path) -> None:
    """Two databases with one id on one folder: the lease is of the database."""
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(data / "prsm.sqlite", copy / "prsm.sqlite")
    with pytest.MonkeyPatch.context() as patched, running(data) as first:
        patched.setattr("time.sleep", lambda _: first.manager.lease.renew())
        error = refused(Mismatch.IN_USE, copy, f"database.files_folder={data}")
        assert first.manager.leadership.place in str(error)
    start(copy, f"database.files_folder={data}")  # given back


def test_a_silent_copy_is_taken_over(
    data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A manager that was killed holds nobody up for long, and finds out when it lives after all."""
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(data / "prsm.sqlite", copy / "prsm.sqlite")
    waited: list[float] = []
    with pytest.MonkeyPatch.context() as patched, running(data) as first:
        patched.setattr("time.sleep", waited.append)
        with running(copy, f"database.files_folder={data}"):
            assert sum(waited) >= 30
            assert "watched for 40 s, then taken" in caplog.text
            first.manager.lease.renew()
            first.manager.lease.renew()
            with pytest.raises(InstallationError, match="stop that one first"):
                first.manager.archive.tidy()
            rows = sqlite_of(data, "SELECT action FROM audit WHERE action LIKE 'installation%'")
            assert rows == [("installation.detect-conflict",)]


def test_a_copy_that_nothing_tells_apart_is_refused_while_the_first_lives(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a snapshot of the machine, or of PostgreSQL's files: it lacks the stamps written since."""
    monkeypatch.setattr(
        "manager.operations.identity.file_lease.database_identity", lambda _: "the same"
    )
    copy = tmp_path / "copy"
    copy.mkdir()
    with pytest.MonkeyPatch.context() as patched, running(data) as first:
        first.manager.lease.renew()
        sqlite_copy(data / "prsm.sqlite", copy / "prsm.sqlite")
        first.manager.lease.renew()
        patched.setattr("time.sleep", lambda _: first.manager.lease.renew())
        error = refused(Mismatch.IN_USE, copy, f"database.files_folder={data}")
        assert first.manager.leadership.place in str(error)
    start(copy, f"database.files_folder={data}")  # given back


def test_two_copies_that_began_together_both_delete_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each finds the other's stamp after its next sign of life, and says so."""
    monkeypatch.setattr(
        "manager.operations.identity.file_lease.database_identity", lambda _: "the same"
    )
    copy = tmp_path / "copy"
    copy.mkdir()
    with running(data) as first:
        sqlite_copy(data / "prsm.sqlite", copy / "prsm.sqlite")
        with running(copy, f"database.files_folder={data}") as second:
            second.manager.lease.renew()
            first.manager.lease.renew()
            with pytest.raises(InstallationError, match="stop that one first"):
                first.manager.archive.tidy()
            rows = sqlite_of(data, "SELECT action FROM audit WHERE action LIKE 'installation%'")
            assert rows == [("installation.detect-conflict",)]


def test_a_manager_that_was_killed_joins_its_own_lease(data: Path) -> None:
    """Its stamp is known: nobody waits, and there is no alert. Old stamps are forgotten."""
    with running(data) as first:
        lease = first.manager.lease
        lease.release = lambda: None  # type: ignore[method-assign]
        lease.renew()
        first.clock.advance(2 * 3600)
        lease.renew()
        lease.renew()
    assert (data / LEASE).exists()
    assert len(sqlite_of(data, "SELECT stamp FROM lease_stamps")) == 2
    with pytest.MonkeyPatch.context() as patched, running(data) as again:
        patched.setattr("time.sleep", pytest.fail)
        again.manager.lease.renew()
        again.manager.archive.tidy()
        assert sqlite_of(data, "SELECT action FROM audit WHERE action LIKE 'installation.c%'") == []


def sqlite_copy(source: Path, target: Path) -> None:
    """Copy a database that is in use as it is now, its journal, too."""
    with (
        closing(sqlite3.connect(source)) as one,
        closing(sqlite3.connect(target)) as other,
    ):
        one.backup(other)


@pytest.fixture
def bucket(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the settings of an archive in a bucket."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return [
        f'archive.store="s3://captures/{tmp_path.name}"',
        f'archive.store_endpoint="{s3}"',
        'archive.store_region="us-east-1"',
    ]


def listed(folder: Path, bucket: list[str]) -> list[str]:
    """Return the segments of a bucket."""
    settings = read_settings(folder, overrides=bucket)
    return sorted(key for key, _ in store_of(settings.archive, layout_of(settings)).listed())


def test_a_second_manager_on_a_bucket(tmp_path: Path, bucket: list[str]) -> None:
    """New or old, with its own folder: refused, and the bucket stays as it is."""
    with running(tmp_path / "data", *bucket) as prsm:
        fill_archive(prsm)
        here = installation_id(prsm.manager.db)
    before = listed(tmp_path / "data", bucket)
    assert len(before) == 2
    error = refused(Mismatch.NO_DATABASE, tmp_path / "new", *bucket)
    assert error.there == here
    assert "s3://captures/" in str(error)
    start(tmp_path / "old")
    error = refused(Mismatch.FOREIGN_FILES, tmp_path / "old", *bucket)
    assert (error.there, error.place.startswith("s3://")) == (here, True)
    (tmp_path / "data" / "prsm.sqlite").write_bytes(b"")
    refused(Mismatch.NO_DATABASE, tmp_path / "data", *bucket)
    assert listed(tmp_path / "data", bucket) == before


def test_a_bucket_without_a_mark(tmp_path: Path, bucket: list[str]) -> None:
    """It is adopted at the upgrade where rows name all of it, and by nobody else."""
    with running(tmp_path / "data", *bucket) as prsm:
        fill_archive(prsm)
        places = locations_of(prsm.manager.layout, prsm.manager.archive.store)
    places[-1].remove_mark(MARK)
    start(tmp_path / "old")
    refused(Mismatch.UNNAMED_FILES, tmp_path / "old", *bucket)
    start(tmp_path / "data", *bucket)
    places[-1].remove_mark(MARK)
    settings = read_settings(tmp_path / "data", overrides=bucket)
    store_of(settings.archive, layout_of(settings)).delete(listed(tmp_path / "data", bucket)[0])
    refused(Mismatch.MISSING_FILES, tmp_path / "data", *bucket)


@pytest.mark.postgres
def test_an_empty_server_beside_data(data: Path, postgres_server: PostgresServer) -> None:
    """A new empty PostgreSQL gets no tables where files of another database are."""
    postgres_server.run_sql("CREATE DATABASE prsm_empty")
    url = postgres_server.url("prsm_empty")
    before = contents(data)
    error = refused(Mismatch.NO_DATABASE, data, f'database.url="{url}"')
    assert "is missing or empty" in str(error)
    assert contents(data) == before
    with closing(Database(url)) as database:
        assert schema_version(database) == ""
    start(data.parent / "new", f'database.url="{url}"')  # where nothing is, it is made


@pytest.mark.postgres
def test_replicas_share_their_files(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """Two managers of one database use one folder at once; the first to end leaves the lease."""
    files = f"database.files_folder={tmp_path / 'files'}"
    with postgres_server.new_database() as url:
        database = f'database.url="{url}"'
        with running(tmp_path / "one", database, files) as one:
            with running(tmp_path / "two", database, files) as two:
                two.manager.lease.check()
                one.manager.lease.check()
                one.manager.lease.renew()
            one.manager.lease.check()
            assert (tmp_path / "files" / LEASE).exists()
