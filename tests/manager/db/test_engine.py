"""Transactions, on both databases."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from manager.db import connections
from manager.db.engine import Database
from manager.db.migrate import migrate
from manager.db.tables import audit, clock, login_failures
from manager.db.transaction import chunks
from manager.errors import BusyError, FullDatabaseError
from shared.errors import SettingError
from shared.frozen import frozen
from tests.postgres import PostgresServer


@frozen
class Tick:
    """Some columns of the clock."""

    ticks: int
    id: int


@frozen
class Number:
    """One column of it."""

    id: int

    def __post_init__(self) -> None:
        assert self.id


@frozen
class LaterTick(Tick):
    """One more than its base has."""

    epoch: int


def test_rows_are_what_their_class_makes(database: Database) -> None:
    """By the names of their columns, in any order, and equal to others of their class."""
    with database.write() as tx:
        tx.insert(clock, [{"id": 1, "ticks": 7, "epoch": 3}])
    c = clock.c
    with database.read() as tx:
        (plain,) = tx.rows(Tick, sa.select(c.ticks, c.id))
        assert tx.rows(Tick, sa.select(c.id, c.epoch, c.ticks)) == [Tick(7, 1)] == [plain]
        assert tx.rows(Number, sa.select(c.ticks, c.id)) == [Number(1)]
        assert tx.rows(LaterTick, sa.select(clock)) == [LaterTick(7, 1, 3)]
        with pytest.raises(ValueError, match="epoch"):
            tx.rows(LaterTick, sa.select(c.ticks, c.id))
    assert type(plain) is Tick
    assert len({plain, Tick(7, 1)}) == 1


def test_an_error_undoes_the_whole_transaction(database: Database) -> None:
    """A write that fails half way leaves nothing."""

    def half() -> None:
        with database.write() as tx:
            tx.insert(clock, [{"id": 1, "ticks": 1}])
            raise KeyError("half way")

    with pytest.raises(KeyError):
        half()
    with database.read() as tx:
        assert tx.values(sa.select(clock.c.ticks)) == []


def test_what_is_missing_is_not_called_a_character(database: Database) -> None:
    """An unknown defect stays one, and no sender's fault: SQLite's word for it has `NULL` in it."""
    with pytest.raises(sa.exc.IntegrityError), database.write() as tx:
        tx.insert(clock, [{"id": 1, "ticks": None}])


def test_the_journal_is_copied_beside_the_writes(database: Database, tmp_path: Path) -> None:
    """What was committed is in the file of SQLite itself then, also while somebody writes."""
    with database.write() as tx:
        tx.insert(clock, [{"id": 1, "ticks": 7}])
    with database.write() as tx:
        tx.execute(clock.update().values(ticks=8))
        database.checkpoint()
    if database.is_sqlite:
        alone = tmp_path / "alone.sqlite"
        shutil.copy(str(database.engine.url.database), alone)  # without the journal beside it
        other = Database(f"sqlite:///{alone}")
        with other.read() as tx:
            assert tx.values(sa.select(clock.c.ticks)) == [7]
        other.close()


def test_writers_take_turns(database: Database) -> None:
    """Threads that read, decide and write in one transaction lose no update."""
    with database.write() as tx:
        tx.insert(clock, [{"id": 1, "ticks": 0}])

    def add_ten() -> None:
        for _ in range(10):
            with database.write() as tx:
                ticks = tx.value(sa.select(clock.c.ticks))
                tx.execute(clock.update().values(ticks=ticks + 1))

    threads = [threading.Thread(target=add_ten) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as tx:
        assert tx.value(sa.select(clock.c.ticks)) == 40


def test_writers_of_two_processes_take_turns(database: Database, database_url: str) -> None:
    """The same holds for two managers on one database: each has its own engine."""
    other = Database(database_url)
    with database.write() as tx:
        tx.insert(clock, [{"id": 1, "ticks": 0}])

    def add_ten(db: Database) -> None:
        for _ in range(10):
            with db.write() as tx:
                ticks = tx.value(sa.select(clock.c.ticks))
                tx.execute(clock.update().values(ticks=ticks + 1))

    threads = [threading.Thread(target=add_ten, args=(db,)) for db in (database, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    with database.read() as tx:
        assert tx.value(sa.select(clock.c.ticks)) == 20


def test_another_programs_lock_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell of sqlite3 in an exclusive transaction is what an operator ends."""
    monkeypatch.setattr(connections, "WAIT_S", 0.1)
    file = tmp_path / "prsm.sqlite"
    database = Database(f"sqlite:///{file}")
    with closing(sqlite3.connect(file, isolation_level=None)) as shell:
        shell.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BusyError, match=r"is locked: another program .*`lslocks` and"):
            database.write().__enter__()
    database.close()


def test_a_database_without_room_is_named_with_its_remedy(tmp_path: Path) -> None:
    """Nothing is changed, and the same change passes once there is room."""
    file = tmp_path / "prsm.sqlite"
    database = Database(f"sqlite:///{file}")
    migrate(database)

    def change(pages: int) -> None:
        with database.write() as tx:
            tx.connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            rows = [{"at_ms": n, "actor_kind": "clock", "action": "x.y"} for n in range(2000)]
            tx.insert(audit, rows)

    with pytest.raises(FullDatabaseError, match=r"prsm\.sqlite has no room .*Make room") as full:
        change(1)
    assert full.value.code == "database_full"
    assert full.value.free_bytes
    with database.read() as tx:
        assert tx.value(sa.select(sa.func.count()).select_from(audit)) == 0
    change(2**30)
    database.close()


def test_a_reader_sees_one_state(database: Database) -> None:
    """What is committed during a read transaction is not seen in it, nor does it wait."""
    with database.write() as tx:
        tx.insert(clock, [{"id": 1, "ticks": 0}])
    with database.read() as reader:
        assert reader.value(sa.select(clock.c.ticks)) == 0
        with database.write() as tx:
            tx.execute(clock.update().values(ticks=7))
        assert reader.value(sa.select(clock.c.ticks)) == 0


def test_a_query_takes_one_core(postgres_server: PostgresServer) -> None:
    """PostgreSQL plans none with helpers, also behind a transaction that was undone."""
    with postgres_server.new_database() as url:
        database = Database(url)
        with pytest.raises(sa.exc.IntegrityError), database.write() as tx:
            tx.insert(clock, [{"id": 1, "ticks": None}])
        for _ in range(2):
            with database.read() as tx:
                assert tx.value(sa.text("SHOW max_parallel_workers_per_gather")) == "0"
        database.close()


def test_upsert_overwrites_or_adds(database: Database) -> None:
    """A row with the same key is overwritten; columns named in `add` are summed."""
    with database.write() as tx:
        tx.upsert(login_failures, [{"name": "a", "failures": 2, "last_ms": 1}], ["name"])
        rows = [{"name": name, "failures": 1, "last_ms": 9} for name in ("a", "b")]
        tx.upsert(login_failures, rows, ["name"], add=["failures"])
        found = tx.execute(sa.select(login_failures).order_by(login_failures.c.name)).all()
    assert [tuple(row) for row in found] == [("a", 3, 9), ("b", 1, 9)]


def test_insert_new_counts_what_was_new(database: Database) -> None:
    """Rows whose key is there already are left alone and not counted."""
    rows = [{"name": str(number), "failures": 0, "last_ms": 0} for number in range(1200)]
    with database.write() as tx:
        assert tx.insert_new(login_failures, rows[:700]) == 700
        assert tx.insert_new(login_failures, rows) == 500


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("nonsense", "not a URL"),
        ("mysql://u:secret@h/n", r"mysql://u:\*\*\*@h/n: mysql is not supported"),
        ("sqlite://", "a path is needed"),
        ("sqlite:////no/such/folder/x", "the folder /no/such/folder does not exist"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str, problem: str) -> None:
    """The message says what is wrong and never shows a password."""
    with pytest.raises(SettingError, match=problem):
        Database(url)


def test_a_server_that_is_not_there_is_busy() -> None:
    """No answer is no crash: the caller is told to come back."""
    gone = Database("postgresql://nobody@/none?host=/no/such/folder")
    with pytest.raises(BusyError, match="does not answer") as busy, gone.read():
        pass
    assert busy.value.retry_after_s > 0
    assert "\n" not in str(busy.value), "a line of the log"
    gone.close()


def test_who_gets_no_connection_is_told_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are in use where the database hangs; that is no defect of whoever asks next."""
    few = {"pool_size": 1, "max_overflow": 0, "pool_timeout": 0.01}
    monkeypatch.setattr(connections, "_POOL", few)
    database = Database(f"sqlite:///{tmp_path}/new")
    with database.read():
        for again in (database.read, database.write):
            with pytest.raises(BusyError, match=r"all 30 connections .* within 30 s"), again():
                pass
    with database.read() as tx:
        assert tx.value(sa.text("SELECT 1")) == 1
    database.close()


def test_the_file_is_private(tmp_path: Path) -> None:
    """The file holds hashes of keys: nobody else may read it."""
    Database(f"sqlite:///{tmp_path}/new").close()
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600


def test_chunks_lose_nothing() -> None:
    """Lists of at most the size, in order, none empty."""
    assert list(chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(chunks([], 2)) == []
