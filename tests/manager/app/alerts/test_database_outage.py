"""A database that is away is told by each manager itself, begun, still and over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from manager.app import manager_run as app_running
from manager.app.alerts.alert_delivery import SendingError
from manager.app.alerts.alerts import Alerts
from manager.app.alerts.database_outage import Outages, Signs
from manager.app.composition import Manager, open_manager
from manager.db import Database
from manager.db.migrate import migrate
from manager.intake.workers.body_workers import BodyWorkers, Pool
from manager.operations.health.alert_views import Way
from manager.operations.health.alerts import Notification
from manager.operations.health.silences import add_window, end_quiet, silence
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.planners import InProcessPlanner
from manager.settings import read_settings
from shared.messages import Message
from tests.manager.running import LOCAL, Running, read_here, running
from tests.postgres import NOT_INSTALLED, PostgresServer, running_server, server_binaries


class Told:
    """A way that takes messages, or does not."""

    def __init__(self) -> None:
        self.made: list[Notification] = []
        self.broken = False

    def send(self, made: Sequence[Notification]) -> None:
        """Take messages."""
        if self.broken:
            raise SendingError("no such place")
        self.made += made

    @property
    def states(self) -> list[tuple[str, str]]:
        """Return of what was told, and how it was."""
        return [(one.key, one.state) for one in self.made]


class Watched:
    """A manager's watch over a database that is away when the test says so."""

    def __init__(self, prsm: Running, *, grace_s: float = 120, resend_s: float = 3600) -> None:
        self.prsm, self.told = prsm, Told()
        self.gone_s = 0.0
        self.leads = True
        manager = prsm.manager
        desk = replace(manager.alerts, ways=[Way("odd", "x", self.told.send)])
        self.alerts = Alerts(manager.led, desk, prsm.clock)
        signs = Signs("m1", "m1, process 7", lambda: self.gone_s, lambda: self.leads)
        self.outages = Outages(manager.db, self.alerts, signs, grace_s, resend_s, prsm.clock)

    def wait(self, seconds: float, *, away: bool) -> list[str]:
        """Let time pass; return what was told at its end."""
        self.prsm.clock.advance(seconds)
        self.gone_s = self.gone_s + seconds if away else 0.0
        before = len(self.told.made)
        self.outages.look()
        return [one.state for one in self.told.made[before:]]


def test_an_outage_is_told_after_a_grace_again_and_when_it_is_over(tmp_path: Path) -> None:
    """With the name of the manager that noticed; the audit has it when it can be written."""
    with running(tmp_path) as prsm:
        watched = Watched(prsm)
        assert watched.wait(60, away=True) == []
        assert watched.wait(60, away=True) == ["begun"]
        assert watched.wait(3599, away=True) == []
        assert watched.wait(1, away=True) == ["still"]
        assert watched.wait(60, away=False) == ["over"]
        assert watched.wait(60, away=False) == []
        watched.outages.remember()
        rows = audit_page(prsm.manager.db, action="alert.")
    begun, still, over = watched.told.made
    assert "has not answered manager m1, process 7 for 2 min; check that it" in str(begun.message)
    assert still.message == Message(
        "alerts.database_gone",
        place="m1, process 7",
        lasted_ms=62 * 60_000,
        why=Message("alerts.database_unreachable"),
    )
    assert str(over.message).startswith(
        "the database answers manager m1, process 7 again, after 1 h"
    )
    assert [row.action for row in rows] == ["alert.end", "alert.repeat", "alert.send"]
    assert {row.subject for row in rows} == {"database:m1"}


def test_a_short_outage_and_one_of_which_nobody_wants_to_know_are_not_told(tmp_path: Path) -> None:
    """0 is never; a silence that was read before holds, and a window until it ends."""
    with running(tmp_path) as prsm:
        brief, off = Watched(prsm), Watched(prsm, grace_s=0)
        assert brief.wait(119, away=True) == []
        assert brief.wait(1, away=False) == []
        assert off.wait(99_999, away=True) == []
        db, now_ms = prsm.manager.db, prsm.clock()
        known = Watched(prsm)
        silence(db, "database:m1", now_ms + 3_600_000, "new disks", LOCAL, now_ms)
        known.outages.remember()
        assert known.wait(3000, away=True) == []
        assert known.wait(1000, away=True) == ["begun"]
        now_ms = prsm.clock()
        add_window(db, now_ms, now_ms + 7_200_000, "", LOCAL, now_ms)
        known.outages.remember()
        assert not audit_page(db, action="alert.send"), "as if it could be asked"
        known.gone_s = 0.0
        known.outages.remember()
        assert known.wait(60, away=False) == []
        end_quiet(db, LOCAL, prsm.clock())
        known.outages.remember()
        assert known.wait(60, away=False) == ["over"]


@pytest.mark.parametrize("away", [True, False])
def test_what_waits_is_tried_by_who_does_not_lead_any_more(tmp_path: Path, away: bool) -> None:
    """Be it that nobody leads, for the database is away; who leads tries with its own looks."""
    with running(tmp_path) as prsm:
        watched = Watched(prsm)
        prsm.agent("a.example").call.get("/servlets/isrestart?host=a.example")
        prsm.clock.advance(40 * 3600)
        watched.told.broken = True
        assert watched.alerts.look() == 1
        watched.told.broken = False
        assert watched.wait(1, away=False) == []
        watched.leads = False
        assert watched.wait(1, away=away) == ["begun"]
    assert watched.told.states == [("agent:a.example", "begun")]


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A PostgreSQL of this test's own, to be ended."""
    if server_binaries() is None:
        pytest.skip(NOT_INSTALLED)
    with running_server() as own:
        own.run_sql("CREATE DATABASE prsm_own")
        db = Database(own.url("prsm_own"))
        migrate(db)
        db.close()
        yield own


def until(happens: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 120
    while not happens():
        assert time.monotonic() < give_up
        threading.Event().wait(0.05)


@pytest.mark.postgres
def test_a_postgresql_that_ends_is_told_by_a_manager_as_it_runs(
    tmp_path: Path, server: PostgresServer
) -> None:
    """By the jobs of its clocks and its own signs of life, and so is what waited before."""
    overrides = [
        f'database.url="{server.url("prsm_own")}"',
        f'database.files_folder="{tmp_path / "files"}"',
        "database.leader_timeout_s=2",
        "alerts.check_interval_s=1",
        "alerts.database_outage_s=1",
        "limits.reserve_bytes=0",
        "collection.reserve_bytes=0",
    ]
    told = Told()
    told.broken = True
    settings = read_settings(tmp_path / "data", overrides=overrides)
    now_ms = time.time_ns() // 1_000_000
    manager: Manager = open_manager(settings, read_here, InProcessPlanner(), lambda: now_ms)
    workers = BodyWorkers(Pool())
    manager = replace(manager, alerts=replace(manager.alerts, ways=[Way("odd", "x", told.send)]))
    try:
        manager.leadership.start()
        prsm = Running(manager, lambda: now_ms)  # type: ignore[arg-type]
        prsm.agent("a.example").call.get("/servlets/isrestart?host=a.example")
        now_ms += 40 * 3_600_000
        clocks = app_running._clocks(manager, workers)
        try:
            for clock in clocks:
                clock.start()
            until(lambda: bool(audit_page(manager.db, action="alert.send")))
            server.stop(keep=True)
            told.broken = False
            key = f"database:{manager.leadership.host}"
            until(lambda: ("agent:a.example", "begun") in told.states)
            until(lambda: (key, "begun") in told.states)
            server.start()
            until(lambda: (key, "over") in told.states)
            until(lambda: bool(audit_page(manager.db, action="alert.end")))
        finally:
            for clock in clocks:
                clock.stop()
    finally:
        manager.close()
        workers.close()
    assert [one for one in told.states if one[0] == key] == [(key, "begun"), (key, "over")]
