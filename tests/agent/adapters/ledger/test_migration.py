"""A ledger of version 1 goes on: nothing that is known, queued or must still be told is lost."""

from __future__ import annotations

import json
import sqlite3
from hashlib import blake2b
from pathlib import Path

import pytest

from agent.adapters.ledger import SqliteLedger, migration
from agent.adapters.ledger.database import DATABASE, Query
from agent.adapters.ledger.schema import OLDEST, REPORT_TABLES, VERSION
from agent.adapters.reports import DurableReports
from agent.errors import HomeError
from agent.pipeline.ledger import AddressBackoff
from agent.pipeline.messages.jobs import Job, UnitFinished
from shared.archive.errors import DiskFullError
from tests.agent.adapters.installation import captures_of, lines_of, open_ledger
from tests.agent.adapters.ledger.test_segments import capture, page

SECRET = b"0123456789abcdef"

# As version 1 made them.
TABLES_1 = (
    """CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), secret BLOB NOT NULL,
       next_job INTEGER NOT NULL, next_position INTEGER NOT NULL, next_serial INTEGER NOT NULL,
       segment TEXT NOT NULL, segment_bytes INTEGER NOT NULL, links_bytes INTEGER NOT NULL,
       log INTEGER NOT NULL, log_bytes INTEGER NOT NULL, log_since_ms INTEGER NOT NULL)""",
    """CREATE TABLE jobs (number INTEGER PRIMARY KEY, job TEXT NOT NULL, host TEXT NOT NULL,
       address TEXT NOT NULL, pages INTEGER NOT NULL, kept INTEGER NOT NULL,
       response_bytes INTEGER NOT NULL, queued INTEGER NOT NULL, finished INTEGER NOT NULL)""",
    "CREATE TABLE seen (job INTEGER, key INTEGER, PRIMARY KEY (job, key)) WITHOUT ROWID",
    """CREATE TABLE queue (job INTEGER, position INTEGER, url TEXT NOT NULL, depth INTEGER NOT NULL,
       redirects INTEGER NOT NULL, referer TEXT, attempts INTEGER NOT NULL,
       PRIMARY KEY (job, position)) WITHOUT ROWID""",
    "CREATE TABLE garbage (job INTEGER PRIMARY KEY)",
)


def key(url: str) -> int:
    digest = blake2b(url.encode(), digest_size=8, key=SECRET).digest()
    return int.from_bytes(digest, "big", signed=True)


def order(number: int) -> str:
    return json.dumps(
        {
            "number": number,
            "unit": f"http://h{number}.example:80/",
            "kind": "crawl",
            "round": 4,
            "max_pages": 0,
            "interval_ms": None,
            "excepted": [],
            "start_pages": [["http://h1.example/x", None]],
        }
    )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The folder of a ledger of version 1: two jobs, the second one done; a page; reports."""
    ledger = open_ledger(tmp_path)  # for the segment and the log, which are as they were
    ledger.append_captures([(capture(1), ("http://b.example/1",))])
    ledger.commit()
    names = "next_serial, segment, segment_bytes, links_bytes, log, log_bytes, log_since_ms"
    files = ledger.database.ask(Query[tuple[int | str, ...]](f"SELECT {names} FROM state"))[0]
    ledger.abandon()
    for path in tmp_path.glob(f"{DATABASE}*"):
        path.unlink()
    connection = sqlite3.connect(tmp_path / DATABASE)
    for statement in (*TABLES_1, *REPORT_TABLES):
        connection.execute(statement)
    run = connection.execute
    run("INSERT INTO state VALUES (1, ?, 9, 5000, ?, ?, ?, ?, ?, ?, ?)", (SECRET, *files))
    run(
        "INSERT INTO jobs VALUES (1, ?, 'http://h1.example:80/', '192.0.2.1', 7, 6, 500, 700, 0)",
        (order(1),),
    )
    run("INSERT INTO jobs VALUES (2, ?, '', '', 1, 1, 10, 0, 1)", (order(2),))
    for number in range(1000):
        url = page(number)
        run("INSERT INTO seen VALUES (1, ?)", (key(url),))
        if number >= 300:
            row = (1, number * 3, url, 2, 0, None if number % 2 else page(0), number % 3)
            run("INSERT INTO queue VALUES (?,?,?,?,?,?,?)", row)
    run("INSERT INTO seen VALUES (2, 5)")
    run("INSERT INTO garbage VALUES (2)")
    run("INSERT INTO closed_logs VALUES (3, 10, 20, 30)")
    run("INSERT INTO finished VALUES ('http://h2.example:80/', 'crawl', 4, 1, 10, '')")
    run("INSERT INTO outside (url, referer) VALUES ('http://c.example/', NULL)")
    run("INSERT INTO addresses VALUES ('http://h1.example:80/', '[\"192.0.2.1\"]', 0)")
    run("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    (tmp_path / "logs" / "crawl-00000003.log").write_bytes(b"")
    return tmp_path


def check(ledger: SqliteLedger, folder: Path) -> None:
    first, second = ledger.each_job()
    assert (first.job.unit, first.host, first.address) == (
        "http://h1.example:80/",
        "http://h1.example:80/",
        "192.0.2.1",
    )
    assert (first.pages, first.kept, first.response_bytes, first.finished) == (7, 6, 500, False)
    assert first.job.start_pages == (("http://h1.example/x", None),)
    assert second.finished
    assert ledger.queued(1) == 700
    taken = ledger.take(1, 0, 1000)
    assert [one.url for one in taken] == [page(number) for number in range(300, 1000)]
    assert [one.attempts for one in taken[:3]] == [0, 1, 2]
    assert [one.referer for one in taken[:2]] == [page(0), None]
    assert ledger.add_new(1, [page(number) for number in range(1001)]) == [False] * 1000 + [True]
    assert ledger.new_job_number() == 9
    reports = DurableReports(ledger.database)
    assert [unit.unit for unit in reports.pending_finished(9)] == ["http://h2.example:80/"]
    assert len(reports.pending_addresses(9)) == 1
    outside = reports.take_outside(9)
    assert outside is not None
    assert outside.urls[0].url == "http://c.example/"
    assert [log.serial for log in ledger.closed_logs()] == [3]
    assert captures_of(folder) == [page(1)]
    assert lines_of(folder) == []


def test_a_ledger_of_version_1_goes_on(old: Path) -> None:
    """All of it is there after the conversion, and after another start."""
    ledger = open_ledger(old)
    check(ledger, old)
    ledger.abandon()  # the URL that was new is forgotten with it
    ledger = open_ledger(old)
    check(ledger, old)
    ledger.close()


def test_a_conversion_that_fails_changes_nothing(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without room, or killed, the old ledger is still there, and is converted next time."""

    def full(*_: object) -> None:
        raise DiskFullError("no room")

    with monkeypatch.context() as patch, pytest.raises(DiskFullError):
        patch.setattr(migration, "write_run", full)
        open_ledger(old)
    connection = sqlite3.connect(old / DATABASE)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()
    ledger = open_ledger(old)
    check(ledger, old)
    ledger.close()


@pytest.mark.parametrize("version", [2, 3, 4, 5, 6, 7])
def test_a_ledger_of_version_2_to_7_goes_on(tmp_path: Path, version: int) -> None:
    """It lacks rests, indexes, units that failed or Crawl-delays; all else is as it was."""
    ledger = open_ledger(tmp_path)
    ledger.append_captures([(capture(1), ())])
    ledger.open_job(Job(ledger.new_job_number(), "http://h1.example:80/", "crawl", 1))
    ledger.place_job(1, "http://h1.example:80/", "192.0.2.1")
    ledger.close()
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("DROP TABLE crawl_delays")
    if version < 7:
        connection.execute("DROP TABLE failed")
    if version < 6:
        connection.execute("DROP TABLE open_index")
    if version < 4:
        connection.execute("DROP INDEX jobs_by_address")
    if version == 2:
        connection.execute("DROP TABLE rests")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()
    for _ in range(2):
        ledger = open_ledger(tmp_path)
        assert ledger.rests() == []
        reports = DurableReports(ledger.database)
        assert reports.failures() == {}
        assert reports.pending_finished(1) == []
        assert [row.job.unit for row in ledger.jobs_at("192.0.2.1")] == ["http://h1.example:80/"]
        assert captures_of(tmp_path) == [page(1)]
        ledger.close()


def numbered(folder: Path, version: int, oldest: int) -> None:
    """Write down which program wrote a ledger, and which can go on with it."""
    connection = sqlite3.connect(folder / DATABASE)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA application_id = {oldest}")
    connection.commit()
    connection.close()


def test_a_release_that_went_back_goes_on_with_what_the_newer_one_left(tmp_path: Path) -> None:
    """The newer one only added something; the number stays, so it need not convert again."""
    ledger = open_ledger(tmp_path)
    ledger.append_captures([(capture(1), ())])
    ledger.close()
    numbered(tmp_path, VERSION + 1, VERSION)
    connection = sqlite3.connect(tmp_path / DATABASE)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if not table.startswith("sqlite_"):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN colour TEXT DEFAULT 'blue'")
    connection.close()
    ledger = open_ledger(tmp_path)
    ledger.open_job(Job(ledger.new_job_number(), "http://h1.example:80/", "crawl", 1))
    ledger.append_captures([(capture(2), ())])
    reports = DurableReports(ledger.database)
    reports.addresses("http://h1.example:80/", ("192.0.2.1",))
    reports.finished(
        UnitFinished(1, "http://h1.example:80/", "http://h1.example:80/", "crawl", 1, 1, 1)
    )
    ledger.keep_rest(AddressBackoff("192.0.2.1", "http://h1.example:80/", "503", 1, 10**13))
    ledger.commit()
    ledger.close()
    assert captures_of(tmp_path) == [page(1), page(2)]
    connection = sqlite3.connect(tmp_path / DATABASE)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)
    assert connection.execute("SELECT colour FROM jobs").fetchall() == [("blue",)]
    connection.close()


@pytest.mark.parametrize("oldest", [0, VERSION + 1])
def test_a_ledger_that_only_newer_programs_know_is_left_alone(tmp_path: Path, oldest: int) -> None:
    """Nothing is guessed about it."""
    open_ledger(tmp_path).close()
    numbered(tmp_path, VERSION + 1, oldest)
    with pytest.raises(HomeError, match=f"version {VERSION + 1}, this program knows {VERSION}"):
        open_ledger(tmp_path)
    numbered(tmp_path, VERSION, OLDEST)
    open_ledger(tmp_path).close()


def test_a_new_ledger_says_who_can_go_on_with_it(tmp_path: Path) -> None:
    """Else the release before could not be gone back to."""
    open_ledger(tmp_path).close()
    connection = sqlite3.connect(tmp_path / DATABASE)
    assert connection.execute("PRAGMA application_id").fetchone() == (OLDEST,)
    connection.close()
    assert OLDEST <= VERSION
