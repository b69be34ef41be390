"""A damaged file of SQLite: named with the finding of its check, and never written again."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from manager.db import Database
from manager.db.damage import is_damage
from manager.db.migrate import migrate
from manager.db.tables import audit
from manager.errors import BusyError, DamagedDatabaseError
from shared.errors import SettingError
from tests.empty_database import empty_database
from tests.manager.db.damaged_files import DAMAGES, fold_journal
from tests.manager.kept_files import sqlite_of, start

ROWS = [
    {"at_ms": number, "actor_kind": "clock", "actor": "", "action": "x.y",
     "subject": f"s{number}", "detail": "d" * 300}
    for number in range(1, 2001)
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of 2,000 rows, closed."""
    file = tmp_path / "prsm.sqlite"
    file.write_bytes(empty_database())
    db = Database(f"sqlite:///{file}")
    with db.write() as tx:
        tx.insert(audit, ROWS)
    db.close()
    fold_journal(file)
    return file


def opened(path: Path) -> None:
    """Open a database as a manager does at its start."""
    db = Database(f"sqlite:///{path}")
    try:
        db.examine(60)
        migrate(db)
    finally:
        db.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damage_is_named_with_file_finding_and_remedy(path: Path, damage: str) -> None:
    """And the file is as it was."""
    DAMAGES[damage](path)
    before = path.read_bytes()
    with pytest.raises(DamagedDatabaseError) as caught:
        opened(path)
    assert caught.value.file == str(path)
    assert caught.value.finding
    said = str(caught.value)
    assert str(path) in said
    assert "PRAGMA quick_check" in said
    assert "prsm --data NEW restore BACKUP" in said
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_journal_beside_a_damaged_file_stays(path: Path, damage: str, tmp_path: Path) -> None:
    """A killed manager leaves one; it may hold what the file has lost."""
    db = Database(f"sqlite:///{path}")
    with db.write() as tx:
        tx.insert(audit, ROWS[:5])
    for name in ("prsm.sqlite", "prsm.sqlite-wal"):
        (tmp_path / f"of-killed-{name}").write_bytes(path.with_name(name).read_bytes())
    db.close()
    for name in ("prsm.sqlite", "prsm.sqlite-wal"):
        (tmp_path / f"of-killed-{name}").rename(path.with_name(name))
    journal = path.with_name("prsm.sqlite-wal")
    held = journal.read_bytes()
    DAMAGES[damage](path)
    with suppress(DamagedDatabaseError):  # where the journal holds the page, nothing is damaged
        opened(path)
        return
    assert journal.read_bytes() == held


@pytest.mark.parametrize("how", ["emptied", "removed"])
def test_a_journal_whose_database_is_gone_is_not_deleted(
    path: Path, how: str, tmp_path: Path
) -> None:
    """SQLite deletes it with the first statement."""
    db = Database(f"sqlite:///{path}")
    with db.write() as tx:
        tx.insert(audit, ROWS[:5])
    journal = path.with_name("prsm.sqlite-wal")
    other = tmp_path / "other"
    other.mkdir()
    (other / journal.name).write_bytes(journal.read_bytes())
    db.close()
    if how == "emptied":
        (other / path.name).write_bytes(b"")
    with pytest.raises(DamagedDatabaseError, match=r"empty or missing.*prsm\.sqlite-wal"):
        opened(other / path.name)
    assert (other / journal.name).stat().st_size
    assert (other / path.name).exists() == (how == "emptied")


def test_a_sound_file_passes(path: Path) -> None:
    """With and without a limit of time."""
    db = Database(f"sqlite:///{path}")
    db.examine(0)
    db.examine(60)
    assert db.damage.known is None
    db.close()


def test_an_examination_ends_when_the_manager_stops(path: Path) -> None:
    """Of however large a file; and an interrupt that comes late ends nothing else."""
    db = Database(f"sqlite:///{path}")
    db.end_examining()
    for _ in range(20):
        db.examine(0)
    with db.read() as tx:
        assert tx.value(sa.select(sa.func.count()).select_from(audit)) == len(ROWS)
    db.close()


def test_damage_that_is_met_while_running_ends_all_writing(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the statement; readers of sound pages go on; the log says it once."""
    DAMAGES["one page zeroed"](path)
    fresh = Database(f"sqlite:///{path}")
    with fresh.write() as tx:
        tx.insert(audit, [dict(ROWS[0])])
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            with pytest.raises(DamagedDatabaseError, match="quick_check"), fresh.read() as tx:
                tx.values(sa.select(sa.func.sum(sa.func.length(audit.c.detail))))
    known = fresh.damage.known
    assert known is not None
    with pytest.raises(DamagedDatabaseError), fresh.write():
        pytest.fail("nothing is written to a damaged file")
    with pytest.raises(DamagedDatabaseError), fresh.fenced(lambda tx: None).write():
        pytest.fail("by nobody")
    with fresh.read() as tx:
        assert tx.value(sa.text("SELECT version_num FROM alembic_version"))
    assert caplog.text.count(str(known.finding)) == 1
    fresh.close()


@pytest.mark.parametrize("name", ["prsm.sqlite", "prsm.sqlite-wal"])
@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_file_that_goes_while_a_manager_has_it_open_is_damage(
    path: Path, name: str, how: str
) -> None:
    """What is written then is in no file that the next start finds."""
    db = Database(f"sqlite:///{path}")
    with db.write() as tx:
        tx.insert(audit, [dict(ROWS[0])])
    db.checkpoint()
    file = path.with_name(name)
    copy = file.read_bytes()
    file.unlink()
    if how == "replaced":
        # The number of an inode may be given out again at once.
        path.with_name("other").write_bytes(b"")
        file.write_bytes(copy)
    with pytest.raises(DamagedDatabaseError, match="while the manager had it open"):
        db.checkpoint()
    with pytest.raises(DamagedDatabaseError), db.write():
        pytest.fail("nothing is written")
    db.close()


def test_a_checkpoint_that_meets_damage_says_so(path: Path) -> None:
    """It asks the driver itself, not SQLAlchemy."""
    db = Database(f"sqlite:///{path}")
    DAMAGES["a picture"](path)
    with pytest.raises(DamagedDatabaseError):
        db.checkpoint()
    db.close()


def test_a_database_of_another_program_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    """It is sound, and it is not ours."""
    file = tmp_path / "prsm.sqlite"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    before = file.read_bytes()
    db = Database(f"sqlite:///{file}")
    with pytest.raises(SettingError, match=r"tables of another program \(bookmarks\)"):
        migrate(db)
    db.close()
    with sqlite3.connect(file) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    other.close()
    assert before


def test_a_file_that_may_not_be_written_is_refused_in_words(tmp_path: Path) -> None:
    """A folder of that name cannot be opened either."""
    (tmp_path / "prsm.sqlite").mkdir()
    with pytest.raises((SettingError, BusyError), match=r"prsm\.sqlite"):
        opened(tmp_path / "prsm.sqlite")


def test_what_postgresql_calls_corrupted_is_damage_too() -> None:
    """By its codes; no code is none."""

    class RefusedError(Exception):
        sqlstate = "XX001"

    assert is_damage(RefusedError())
    assert not is_damage(Exception("XX001"))
    assert not is_damage(sqlite3.OperationalError("database is locked"))


def test_tables_without_their_schema_are_no_empty_database(tmp_path: Path) -> None:
    """Its version was deleted: nothing is made, and nobody is told that the file is empty."""
    start(tmp_path)
    sqlite_of(tmp_path, "DELETE FROM alembic_version")
    with pytest.raises(SettingError, match="does not name their schema"):
        start(tmp_path)
    sqlite_of(tmp_path, "DROP TABLE alembic_version")
    with pytest.raises(SettingError, match="does not name their schema"):
        start(tmp_path)


def test_a_schema_without_a_table_of_it_is_refused(tmp_path: Path) -> None:
    """A table that was dropped: no manager serves half of a database."""
    start(tmp_path)
    sqlite_of(tmp_path, "DROP TABLE round_link_kinds")
    with pytest.raises(SettingError, match="lacks tables of it \\(round_link_kinds\\)"):
        start(tmp_path)
