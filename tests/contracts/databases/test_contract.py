"""What operations rely on, whichever database is underneath."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.tables import assignments, hosts
from manager.errors import BusyError, ConflictError, PrsmError
from manager.operations.actor import Actor
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.hosts import import_hosts
from manager.operations.identity.enrolment import enrol, issue_join_token
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import list_rounds, start_round
from manager.operations.rounds.tick import tick
from shared.wire.names import hash_of_key
from tests.manager.operations.world import World
from tests.postgres import PostgresServer

ADMIN = Actor("user", "hana")

WRITER = """
import sys
from manager.db.engine import Database
from manager.operations.actor import Actor
from manager.operations.hosts.hosts import import_hosts
db = Database(sys.argv[1])
for number in range(int(sys.argv[3])):
    lines = [(1, f"{sys.argv[2]}{number}.jp"), (2, f"same{number}.jp")]
    import_hosts(db, lines, Actor("local", "t"), 1)
"""


def test_what_was_committed_is_there_for_who_opens_it_next(
    database: Database, database_url: str
) -> None:
    """A second manager sees what the first one acknowledged."""
    import_hosts(database, [(1, "h1.jp")], ADMIN, 1)
    other = Database(database_url)
    with other.read() as tx:
        assert tx.values(sa.select(hosts.c.key)) == ["http://h1.jp:80/"]
    other.close()


def test_processes_write_side_by_side(database: Database, database_url: str) -> None:
    """Two processes import the same hosts: each is there once, and no request fails."""
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, database_url, name, "20"])
        for name in ("a", "b")
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    with database.read() as tx:
        keys = tx.values(sa.select(hosts.c.key))
    assert len(keys) == len(set(keys)) == 60
    assert check(database) == []


def test_one_of_many_at_once_consumes_the_token(database: Database) -> None:
    """Of many machines that show one token at the same moment one joins; an alert tells of it."""
    token = issue_join_token(database, "a", ADMIN, 1).token
    ready = threading.Barrier(8)

    def join(number: int) -> bool:
        ready.wait()
        try:
            return not enrol(database, "a", token, hash_of_key(str(number)), 2).repeated
        except ConflictError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(join, range(8))) == 1
    assert len(audit_page(database, alerts=True)) == 7


def test_one_of_many_at_once_starts_the_round(database: Database) -> None:
    """Two administrators who press the button together start one round."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    ready = threading.Barrier(6)

    def start(_: int) -> bool:
        ready.wait()
        try:
            return start_round(database, "keep", ADMIN, world.now_ms) == 1
        except ConflictError:
            return False

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(start, range(6))) == 1
    assert len(list_rounds(database)) == 1


def test_ticks_and_syncs_at_once_leave_a_consistent_state(
    database: Database, database_url: str
) -> None:
    """Two managers tick while agents call and work: the round ends, each unit has one owner."""
    world = World(database)
    world.join("a", "b", "c")
    world.hosts(*(f"h{number}.jp" for number in range(12)))
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)
    other = Database(database_url)
    failures: list[BaseException] = []

    def guarded(act: Callable[[], object]) -> None:
        try:
            for _ in range(25):
                act()
        except (PrsmError, AssertionError, sa.exc.SQLAlchemyError) as error:
            failures.append(error)

    def busy(name: str) -> None:
        world.call(name)
        world.work(name, 3)
        world.call(name)

    acts: list[Callable[[], object]] = [
        lambda: tick(other, world.now_ms, world.policy),
        world.tick,
    ]
    acts += [partial(busy, name) for name in ("a", "b", "c")]
    threads = [threading.Thread(target=guarded, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert failures == []
    assert check(database) == []
    world.run()
    with database.read() as tx:
        open_intervals = sa.select(sa.func.count()).where(assignments.c.until_ms.is_(None))
        assert tx.value(open_intervals) == 12


@pytest.mark.postgres
def test_a_server_that_was_restarted_is_used_again(postgres_server: PostgresServer) -> None:
    """Requests in between are told to come back; afterwards everything works, nothing by hand."""
    with postgres_server.new_database() as url:
        database = Database(url)
        import_hosts(database, [(1, "h1.jp")], ADMIN, 1)
        postgres_server.run_sql("CHECKPOINT")
        postgres_server.stop(keep=True)
        with pytest.raises(BusyError, match="does not answer") as busy:
            import_hosts(database, [(1, "h2.jp")], ADMIN, 1)
        assert busy.value.retry_after_s > 0
        postgres_server.start()
        import_hosts(database, [(1, "h3.jp")], ADMIN, 1)
        with database.read() as tx:
            keys = tx.values(sa.select(hosts.c.key).order_by(hosts.c.key))
        assert keys == ["http://h1.jp:80/", "http://h3.jp:80/"]
        database.close()


STOPPED = """
import os, signal, sys
from manager.db.engine import Database
from manager.db.fleet import agents
db = Database(sys.argv[1])
with db.write() as tx:
    agents.add(tx, "never", "sync", "0" * 64, 1)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.mark.slow
def test_who_is_stopped_in_the_middle_of_a_write_holds_up_nobody(
    postgres_server: PostgresServer,
) -> None:
    """The server ends a write that asks nothing; it is undone, and who wakes hears of it."""
    with postgres_server.new_database() as url, one_that_stops(url) as stopped:
        database = Database(url)
        import_hosts(database, [(1, "h1.jp")], ADMIN, 1)
        stopped.send_signal(signal.SIGCONT)
        _, said = stopped.communicate(timeout=60)
        assert stopped.returncode == 1
        assert "BusyError: the database does not answer" in said
        with database.read() as tx:
            assert agents.by_name(tx, "never") is None
        database.close()


@contextmanager
def one_that_stops(url: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process, wait until it has stopped in the middle of a write, and end it whole."""
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED, url], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            seen = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            assert seen is not None
            assert seen.si_code == os.CLD_STOPPED, process.communicate()[1]
            yield process
        finally:
            process.kill()


def test_a_write_that_gets_no_turn_is_told_to_come_back(
    sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting has an end, and it is no failure of the request."""
    monkeypatch.setattr("manager.db.engine.WAIT_S", 0.05)
    database = Database(f"sqlite:///{sqlite_template}")
    with database.write(), pytest.raises(BusyError, match="no write lock"), database.write():
        pass
    database.close()


def test_acknowledged_means_on_disk(sqlite_template: Path) -> None:
    """SQLite waits for the disk at each commit, and holds its foreign keys."""
    database = Database(f"sqlite:///{sqlite_template}")
    with database.read() as tx:
        asked = {
            name: tx.value(sa.text(f"PRAGMA {name}"))
            for name in ("synchronous", "journal_mode", "foreign_keys")
        }
    assert asked == {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1}
    database.close()


def test_a_transaction_outlives_the_closing(database_url: str) -> None:
    """A thread may be in the middle of one: it ends well, and its connection with it."""
    closing = Database(database_url)
    with closing.read() as tx:
        driver: Any = tx.connection.connection.driver_connection
        closing.close()
        assert tx.value(sa.select(sa.literal(1))) == 1
    with pytest.raises(Exception, match="closed"):
        driver.execute("SELECT 1")
