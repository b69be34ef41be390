"""Rounds that begin by the clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from manager.balancing.balancers import BALANCERS
from manager.db.engine import Database
from manager.errors import NotFoundError
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.round_schedules import TIMETABLE, add_schedule
from manager.operations.rounds.rounds import cancel_round, current_round, list_rounds, start_round
from manager.schedules import Crontab
from shared.errors import FormatError
from shared.messages import Message
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario


def ready(database: Database) -> World:
    """Return a world with an agent and a host, at 12:00 UTC."""
    world = World(database)
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    world.true_ms = round(noon.timestamp() * 1000)
    world.join("a")
    world.hosts("h1.jp")
    return world


def until(world: World, hour: int, minute: int = 0, day: int = 21) -> None:
    """Let time pass until a moment, the manager at work."""
    end = datetime(2026, 11, day, hour, minute, tzinfo=UTC).timestamp() * 1000
    while world.now_ms < end:
        world.wait(min(600, (end - world.now_ms) / 1000))
        world.tick()


def test_a_round_begins_at_its_time_and_once(database: Database) -> None:
    """Not before, with the method that was asked for, named after the schedule."""
    world = ready(database)
    made = add_schedule(database, " 30  2 * * * ", "Asia/Tokyo", "keep", ADMIN, world.now_ms)
    assert made.schedule.crontab == "30 2 * * *"
    assert made.next_runs[0] == "Sunday, 22 November 2026, 02:30 JST"
    assert len(made.next_runs) == len(made.next_runs_ms) == 5
    until(world, 17, 20)
    assert list_rounds(database) == []
    until(world, 17, 30)
    assert world.tick().rounds_scheduled == 0
    (begun,) = list_rounds(database)
    assert (begun.method, begun.started_by, begun.probe) == ("keep", "schedule 1", True)
    (listed,) = TIMETABLE.listed(database, world.now_ms)
    assert listed.schedule.last_result == Message("rounds.began", number=1)
    assert listed.next_runs[0] == "Monday, 23 November 2026, 02:30 JST"


def test_a_time_at_which_a_round_goes_on_is_skipped(database: Database) -> None:
    """It leaves an audit row, and is not made up for when the round is over."""
    world = ready(database)
    add_schedule(database, "0 13 * * *", "UTC", "keep", ADMIN, world.now_ms, probe=False)
    world.order_probes("h1.jp")
    start_round(database, "random", ADMIN, world.now_ms)
    until(world, 13, 10)
    (row,) = audit_page(database, action="round.skip")
    assert (row.subject, row.alert) == ("1", False)
    assert '"rounds.running"' in row.detail
    (listed,) = TIMETABLE.listed(database, world.now_ms)
    assert str(listed.schedule.last_result) == "skipped: round 1 is open"
    cancel_round(database, ADMIN, world.now_ms)
    until(world, 15)
    assert current_round(database) is None
    until(world, 13, 0, day=22)
    current = current_round(database)
    assert current is not None
    assert (current.number, current.probe) == (2, False)


def test_what_cannot_begin_is_said(database: Database) -> None:
    """Without an agent a time is skipped, with an alert; a missed one is not made up for later."""
    world = World(database)
    add_schedule(database, "@hourly", "UTC", "keep", ADMIN, world.now_ms)
    world.wait(3600)
    world.tick()
    (row,) = audit_page(database, action="round.skip")
    assert row.alert
    assert '"rounds.no_agent"' in row.detail
    world.join("a")
    world.hosts("h1.jp")
    world.wait(86_400)
    world.tick()
    assert '"rounds.late"' in audit_page(database, action="round.skip")[0].detail
    assert list_rounds(database) == []


def test_a_clock_that_was_set_back_holds_no_schedule_up(database: Database) -> None:
    """The next time is that of the clock as it is now."""
    world = ready(database)
    add_schedule(database, "0 13 * * *", "UTC", "keep", ADMIN, world.now_ms)
    world.leap(-30 * 86_400)
    world.tick()
    world.wait(3600)
    world.tick()
    assert len(list_rounds(database)) == 1


def test_a_schedule_is_removed(database: Database) -> None:
    """No round begins by it any more; removing it again says so."""
    world = ready(database)
    add_schedule(database, "0 13 * * *", "UTC", "keep", ADMIN, world.now_ms)
    TIMETABLE.remove(database, 1, ADMIN, world.now_ms)
    until(world, 14)
    assert list_rounds(database) == []
    assert TIMETABLE.listed(database, world.now_ms) == []
    with pytest.raises(NotFoundError, match="schedule 1: not found"):
        TIMETABLE.remove(database, 1, ADMIN, world.now_ms)
    assert len(audit_page(database, action="round.remove-schedule")) == 1
    assert len(audit_page(database, action="round.add-schedule")) == 1


def test_what_is_no_schedule_is_refused(database: Database) -> None:
    """A line, a zone, a method that is none."""
    for crontab, zone, method in (
        ("61 * * * *", "UTC", "keep"),
        ("@daily", "Nowhere", "keep"),
        ("@daily", "UTC", "luck"),
    ):
        with pytest.raises(FormatError):
            add_schedule(database, crontab, zone, method, ADMIN, 0)
    assert "luck" not in BALANCERS


def test_a_zone_that_this_machine_has_lost_stops_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others go on, and the list says which one cannot be read."""
    world = ready(database)
    add_schedule(database, "0 13 * * *", "Asia/Tokyo", "keep", ADMIN, world.now_ms)
    add_schedule(database, "0 13 * * *", "UTC", "keep", ADMIN, world.now_ms)

    class Utc(Crontab):
        def __init__(self, text: str, zone: str = "UTC") -> None:
            super().__init__(text, zone if zone == "UTC" else "Gone/Away")

    monkeypatch.setattr("manager.operations.timetables.Crontab", Utc)
    until(world, 13, 5)
    assert [row.started_by for row in list_rounds(database)] == ["schedule 2"]
    until(world, 5, 0, day=22)
    lost = next(one for one in TIMETABLE.listed(database, world.now_ms) if one.schedule.id == 1)
    assert lost.next_runs_ms == []
    problem = Message("times.unknown_zone", zone="Gone/Away")
    assert (lost.next_runs, lost.problem) == ([], Message("schedules.never", problem=problem))
    assert lost.schedule.last_result == problem


def test_a_schedule_may_move_as_much_as_it_says(database: Database) -> None:
    """Its rounds keep to its own share, others to the policy's; another share is refused."""
    world = ready(database)
    made = add_schedule(database, "0 13 * * *", "UTC", "default", ADMIN, world.now_ms, moves=0.02)
    assert made.schedule.plan_moves == 0.02
    until(world, 13)
    (begun,) = list_rounds(database)
    assert begun.plan_moves == 0.02
    cancel_round(database, ADMIN, world.now_ms)
    start_round(database, "default", ADMIN, world.now_ms)
    assert list_rounds(database)[0].plan_moves is None
    with pytest.raises(FormatError, match=r"moves = 1\.5: must be 0 to 1"):
        add_schedule(database, "0 13 * * *", "UTC", "default", ADMIN, world.now_ms, moves=1.5)
