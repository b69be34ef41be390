"""The checker on databases that somebody forged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from benchmarks.faults.check import check, main
from benchmarks.faults.evidence.history import install
from benchmarks.faults.evidence.observations import Acknowledged
from manager.db.engine import Database
from manager.db.tables import agents, assignments, holdings, hosts, reports, rights, units
from tests.postgres import PostgresServer, database, database_url, postgres_server, sqlite_template

__all__ = ["database", "database_url", "postgres_server", "sqlite_template"]

HOST = {"id": 1, "key": "h:80", "reversed_key": "h:80", "first_seen_ms": 1, "resolution": "new"}
KEPT = Acknowledged("a", "1" * 64)


def forge(database: Database) -> None:
    """Fill in two agents, a unit that went from one to the other, and a report."""
    with database.write() as tx:
        for number, name in ((1, "a"), (2, "b")):
            row = {"id": number, "name": name, "kind": "sync", "joined_ms": 1}
            tx.insert(agents, [row])
        tx.insert(hosts, [HOST])
        unit = {"id": 1, "host_id": 1, "path": "/", "key": "http://h:80/", "state": "placed"}
        tx.insert(units, [unit])
        common = {"unit_id": 1, "since_ms": 10_000, "until_ms": 20_000}
        own = {**common, "agent_id": 1, "epoch": 1}
        tx.insert(assignments, [own])
        tx.insert(
            assignments, [{**own, "agent_id": 2, "epoch": 2, "since_ms": 20_000, "until_ms": None}]
        )
        held = {**common, "agent_id": 1, "kind": "crawl", "round": 1}
        tx.insert(holdings, [held])
        report = {"agent_id": 1, "name": "a.1", "sha256": KEPT.sha256, "received_ms": 1}
        tx.insert(reports, [{**report, "kind": "log", "path": "logs/1/x.parquet"}])


def test_what_is_well_is_found_well(database: Database, database_url: str) -> None:
    forge(database)
    verdict = check(database_url, [KEPT])
    assert verdict.ok
    assert verdict.counted == {"reports": 1, "acknowledged": 1, "owners": 2, "holders": 1}


def test_lost_reports_are_found(database: Database, database_url: str, tmp_path: Path) -> None:
    """One that is not in the tables, one of another agent, one whose rows are gone."""
    forge(database)
    lost = [Acknowledged("a", "2" * 64), Acknowledged("b", KEPT.sha256)]
    assert len(check(database_url, [KEPT, *lost]).lost) == 2
    (gone,) = check(database_url, [KEPT], files=tmp_path).lost
    assert "its rows logs/1/x.parquet are gone" in gone


def test_two_owners_are_found(database: Database, database_url: str) -> None:
    """One who came before the other was over, by the clock and by the epochs."""
    forge(database)
    with database.write() as tx:
        tx.execute(assignments.update().where(assignments.c.epoch == 2).values(since_ms=15_000))
    (found,) = check(database_url).double
    assert "b from 15000 on, a until 20000" in found
    assert check(database_url, clocks_right=False).ok
    with database.write() as tx:
        tx.execute(sa.text("DROP INDEX uq_assignments_open"))
        tx.execute(assignments.update().values(until_ms=None))
    assert any("has 2 owners now" in one for one in check(database_url).double)


def test_two_holders_are_found(database: Database, database_url: str) -> None:
    forge(database)
    row = {"unit_id": 1, "group_id": 1, "agent_id": 2, "kind": "crawl", "round": 1}
    with database.write() as tx:
        tx.insert(rights, [{**row, "granted_ms": 17_000}])
    (found,) = check(database_url).double
    assert "b from 17000 on, a until 20000" in found


def test_the_command_says_it_by_its_exit_code(
    database: Database,
    database_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    forge(database)
    main([database_url])
    assert capsys.readouterr().out.splitlines()[-1] == "all promises are kept"
    told = tmp_path / "acknowledged"
    told.write_text(json.dumps({"agent": "a", "sha256": "2" * 64}) + "\n")
    with pytest.raises(SystemExit, match="1"):
        main([database_url, "--acknowledged", str(told)])
    assert "is not in the database" in capsys.readouterr().out


def test_the_database_writes_its_own_history(postgres_server: PostgresServer) -> None:
    """What a forger changes afterwards is in it, though the tables agree with each other."""
    with postgres_server.new_database() as url:
        install(url)
        database = Database(url)
        forge(database)
        assert check(url).ok
        with database.write() as tx:
            tx.execute(assignments.update().where(assignments.c.epoch == 1).values(since_ms=9_000))
        (found,) = check(url).other
        assert "was changed after its end: ['since_ms']" in found
        database.close()
