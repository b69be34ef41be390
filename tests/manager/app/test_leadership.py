"""Who leads, when another takes over, and what who led before may still write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from manager.app.leadership import Identity, Leadership
from manager.db import Database
from manager.db.tables import hosts
from manager.errors import NotLeadingError
from manager.operations.actor import Actor
from manager.operations.hosts.hosts import import_hosts
from manager.operations.identity.managers import LeaderRow, list_managers, live
from manager.operations.people.audit_log import audit_page
from tests.postgres import PostgresServer, database, database_url, postgres_server, sqlite_template

__all__ = ["database", "database_url", "postgres_server", "sqlite_template"]

TERM_S = 6.0
ADMIN = Actor("user", "hana")


class Time:
    """Seconds since the start of a machine."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def shared(postgres_server: PostgresServer) -> Iterator[Database]:
    """A database that several managers may serve."""
    with postgres_server.new_database() as url:
        opened = Database(url)
        yield opened
        opened.close()


def made(db: Database, time: Time, dead: str = "") -> Leadership:
    return Leadership(db, TERM_S, lambda: 1_790_000_000_000, time, Identity(dead=dead))


def test_the_first_leads_at_once(database: Database) -> None:
    """Where nobody leads there is nobody to wait for; it is written who and since when."""
    one = made(database, Time())
    one.step()
    assert one.epoch == 1
    (shown,) = list_managers(database).managers
    assert shown.leads
    assert shown.name == one.name


def test_another_leads_after_a_term_of_silence(shared: Database) -> None:
    """Not before, and not while there are signs of life; the audit tells of it."""
    time = Time()
    one, two = made(shared, time), made(shared, time)
    one.step()
    for _ in range(20):
        one.step()
        two.step()
        time.now_s += 1.5
    assert (one.epoch, two.epoch) == (1, 0)
    for _ in range(3):
        two.step()
        time.now_s += 1.5
    assert two.epoch == 0
    assert one.epoch == 0, "its own term ends before anybody else may begin one"
    for _ in range(3):
        two.step()
        time.now_s += 1.5
    assert two.epoch == 2
    assert [row.action for row in audit_page(shared)] == ["manager.take-leadership"]


def test_who_led_before_can_write_nothing(shared: Database) -> None:
    """It was stopped in the middle of its work; what it does when it wakes is refused."""
    time = Time()
    one, two = made(shared, time), made(shared, time)
    one.step()
    led = shared.fenced(one.fence)
    import_hosts(led, [(1, "h1.jp")], ADMIN, 1)
    for _ in range(8):
        two.step()
        time.now_s += 1.5
    assert two.epoch == 2
    with pytest.raises(NotLeadingError, match="since epoch 2; this one led in epoch 1"):
        import_hosts(led, [(2, "h2.jp")], ADMIN, 1)
    import_hosts(shared.fenced(two.fence), [(3, "h3.jp")], ADMIN, 1)
    one.step()
    assert one.epoch == 0
    with shared.read() as tx:
        keys = tx.values(sa.select(hosts.c.key).order_by(hosts.c.key))
    assert keys == ["http://h1.jp:80/", "http://h3.jp:80/"]


def test_who_was_stopped_itself_waits_again(shared: Database) -> None:
    """A watcher that slept for an hour did not see an hour of silence."""
    time = Time()
    one, two = made(shared, time), made(shared, time)
    one.step()
    two.step()
    time.now_s += 3600
    two.step()
    assert two.epoch == 0
    one.step()
    two.step()
    assert (one.epoch, two.epoch) == (1, 0)


def test_who_ends_makes_room_at_once(shared: Database) -> None:
    """An orderly end needs no silence."""
    time = Time()
    one, two = made(shared, time), made(shared, time)
    one.step()
    two.step()
    one.stop()
    two.step()
    assert two.epoch == 2
    assert [each.name for each in list_managers(shared).managers] == [two.name]


def test_nobody_waits_for_a_leader_that_is_dead(shared: Database) -> None:
    """The lock of its directory is proof; its epoch is over all the same, and it writes nothing."""
    time = Time()
    one = made(shared, time)
    one.step()
    led = shared.fenced(one.fence)
    again, other = made(shared, time, dead=one.name), made(shared, time, dead="another")
    other.step()
    assert other.epoch == 0
    again.step()
    assert again.epoch == 2
    with pytest.raises(NotLeadingError, match="since epoch 2"):
        import_hosts(led, [(1, "h1.jp")], ADMIN, 1)


def test_who_begins_again_is_one_manager(shared: Database) -> None:
    """Of who was killed in its place nothing is known any more; another that died is still."""
    time = Time()
    one, two = made(shared, time), made(shared, time)
    one.step()
    two.step()
    again = made(shared, time, dead=one.name)
    again.step()
    assert [each.name for each in list_managers(shared).managers] == [two.name, again.name]


def test_jobs_are_for_the_leader(shared: Database) -> None:
    """Others skip them; the first of each epoch comes with what must be done before it."""
    time = Time()
    one, two = made(shared, time), made(shared, time)
    one.step()
    two.step()
    done: list[str] = []
    ones = one.only(lambda: done.append("one"), first=lambda: done.append("first"))
    twos = two.only(lambda: done.append("two"))
    for job in (ones, twos, ones):
        job()
    assert done == ["first", "one", "one"]
    time.now_s += TERM_S
    ones()
    assert done == ["first", "one", "one"]


def test_a_refused_job_ends_in_words(shared: Database, caplog: pytest.LogCaptureFixture) -> None:
    """It is no failure, and the log has one line of it."""
    one = made(shared, Time())
    one.step()
    led = shared.fenced(one.fence)
    with shared.write() as tx:
        tx.execute(sa.text("UPDATE leader SET epoch = 7, holder = 'another'"))
    one.only(lambda: import_hosts(led, [(1, "h1.jp")], ADMIN, 1))()
    assert "another manager leads since epoch 7" in caplog.text


def test_a_sign_of_life_without_an_answer_is_a_database_that_is_gone(
    shared: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is stopped refuses nothing: whoever asks waits, and says so meanwhile."""
    time = Time()
    one = made(shared, time)
    waited: list[float] = []

    def slow(*of: Any) -> LeaderRow:
        for _ in range(2):
            time.now_s += 4
            waited.append(one.gone_s)
        return live(*of)

    with monkeypatch.context() as patched:
        patched.setattr("manager.app.leadership.live", slow)
        one.step()
    assert waited == [0.0, 8.0]
    assert one.gone_s == 0.0
