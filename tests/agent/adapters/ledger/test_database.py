"""The database: one open transaction, which a full disk delays."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.adapters.ledger import Database
from agent.adapters.ledger.database import Query
from agent.errors import HomeError
from shared.archive.errors import DiskFullError

ADD = "INSERT INTO outside (url, referer) VALUES (?, NULL)"


@contextmanager
def full_disk() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


URLS = Query[tuple[str]]("SELECT url FROM outside ORDER BY id")


def urls(database: Database) -> list[object]:
    return [url for (url,) in database.ask(URLS)]


def committed(database: Database) -> list[object]:
    return [
        url
        for (url,) in database.ask_committed(
            Query[tuple[str]]("SELECT url FROM outside ORDER BY id")
        )
    ]


def test_changes_are_seen_at_once_and_durable_at_a_commit(tmp_path: Path) -> None:
    """Whoever asks sees what is not committed, unless it asks for what is."""
    database = Database(tmp_path / "x.sqlite")
    database.run(ADD, ("a",))
    assert (urls(database), committed(database)) == (["a"], [])
    database.commit()
    assert (urls(database), committed(database)) == (["a"], ["a"])
    database.run(ADD, ("b",))
    database.close()
    database = Database(tmp_path / "x.sqlite")
    assert urls(database) == ["a"]
    database.close()


def test_a_transaction_without_room_is_made_again(tmp_path: Path) -> None:
    """A failed commit keeps every change, in order; more may follow; reading goes on."""
    database = Database(tmp_path / "x.sqlite")
    database.run_many(ADD, [("a",), ("b",)])
    database.run("DELETE FROM outside WHERE url = 'a'")
    with full_disk():
        for _ in range(2):
            with pytest.raises(DiskFullError, match="free space"):
                database.commit()
            assert urls(database) == ["b"]
        database.run(ADD, ("c",))
    assert committed(database) == []
    assert database.changed
    database.commit()
    assert committed(database) == ["b", "c"]
    assert not database.changed
    database.close()


def test_large_transactions_wait_in_memory(tmp_path: Path) -> None:
    """Nothing reaches the disk before the commit, so a full disk cannot break in between."""
    database = Database(tmp_path / "x.sqlite")
    with full_disk():
        database.run_many(ADD, [(f"http://a.example/{number}" * 10,) for number in range(200_000)])
        with pytest.raises(DiskFullError):
            database.commit()
    database.commit()
    assert len(committed(database)) == 200_000
    database.close()


def test_a_statement_that_fails_changes_nothing(tmp_path: Path) -> None:
    """Of rows that are refused in the middle none is there, and the ones before them still are."""
    database = Database(tmp_path / "x.sqlite")
    database.run(ADD, ("a",))
    with pytest.raises(HomeError):
        database.run("INSERT INTO nothing VALUES (1)")
    assert urls(database) == ["a"]
    database.commit()
    assert committed(database) == ["a"]
    database.close()


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    """Another program's file, or one of a later version, is left alone."""
    other = tmp_path / "other.sqlite"
    other.write_bytes(b"this is no database at all, but long enough to be looked at" * 20)
    with pytest.raises(HomeError, match="move the file away"):
        Database(other)
    later = tmp_path / "later.sqlite"
    Database(later).close()
    connection = sqlite3.connect(later)
    connection.execute("PRAGMA user_version = 99")
    connection.execute("PRAGMA application_id = 99")
    connection.close()
    with pytest.raises(HomeError, match="version 99"):
        Database(later)


def test_the_log_of_a_lost_database_is_not_taken_over(tmp_path: Path) -> None:
    """Pages that wait for another file do not end up in the new one."""
    path = tmp_path / "x.sqlite"
    database = Database(path)
    database.run(ADD, ("old",))
    database.commit()
    copies = {name: (tmp_path / name).read_bytes() for name in ("x.sqlite-wal", "x.sqlite-shm")}
    database.close()
    path.unlink()
    for name, content in copies.items():
        (tmp_path / name).write_bytes(content)
    database = Database(path)
    assert urls(database) == []
    database.close()
