"""When a person is told of what, and when not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manager.assignment.liveness import AgentFacts, LivenessState, liveness
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.health import alerts
from manager.db.health.alerts import ToldRow
from manager.db.releases import releases
from manager.db.releases.releases import AgentReleaseRow
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import note_alone
from manager.operations.alert import Alert
from manager.operations.health.alert_rules import Expiry, agent_alerts, alerts_of
from manager.operations.health.alerts import Notification, due, notifications
from manager.operations.health.silences import (
    add_window,
    end_silence,
    list_silences,
    silence,
    silence_all,
)
from manager.operations.health.system_figures import SystemFigures, system_figures_of
from manager.operations.identity.managers import (
    LeaderRow,
    forget_manager,
    list_managers,
    live,
    take_lead,
)
from manager.operations.people.audit_log import audit_page
from manager.operations.releases.rollouts import halt, roll_out
from manager.operations.releases.update_reports import report_update
from manager.settings import AlertSettings
from shared.errors import FormatError
from shared.messages import Message
from tests.manager.operations.health.no_alerts import OFF
from tests.manager.operations.world import ADMIN, World

DAY_S = 86_400
DAY_MS = 86_400_000
LIMITS = replace(
    OFF,
    agent_late_s=60,
    manager_silence_s=600,
    moves_per_day=10,
    disk_bytes=1000,
    expiry_days=21,
    round_days=14,
    backup_days=3,
)
RESEND_S = OFF.repeat_interval_s


def standing(world: World) -> SystemFigures:
    return system_figures_of(world.db, Path("/"), world.policy, world.now_ms)


def told(world: World, limits: AlertSettings = LIMITS) -> list[Notification]:
    return notifications(world.db, standing(world), [], limits, world.now_ms)


def told_keys(database: Database) -> list[str]:
    with database.read() as tx:
        return [row.key for row in alerts.all_told(tx)]


def test_a_manager_that_is_silent_is_told_until_it_is_back_or_taken_away(
    database: Database,
) -> None:
    """Of two there is one: after ten minutes by the signs of the leader, whatever clocks say."""
    world = World(database)

    def live_on(minutes: int, *names: str) -> None:
        for _ in range(minutes):
            world.wait(60)
            for name in names:
                live(database, name, f"{name}.example, process 7", "1", world.now_ms)

    live_on(1, "one", "two", "three")
    take_lead(database, "one", LeaderRow("", 0, None, None), world.now_ms)
    live_on(10, "one", "three")
    assert told(world) == []
    live_on(1, "one", "three")
    (begun,) = told(world)
    assert (begun.key, begun.state) == ("manager:two.example, process 7", "begun")
    assert "no heartbeat for 11 min; " in str(begun.message)
    assert "`prsm managers forget two`" in str(begun.message)
    live(database, "again", "two.example, process 8", "1", world.now_ms, dead="two")
    (over,) = told(world)
    assert (over.key, over.state) == (begun.key, "over")
    live_on(11, "one", "again")
    assert [one.state for one in told(world)] == ["begun"]
    with pytest.raises(ConflictError, match="stop it first"):
        forget_manager(database, "again", ADMIN, world.now_ms)
    forget_manager(database, "three", ADMIN, world.now_ms)
    assert [one.state for one in told(world)] == ["over"]
    with pytest.raises(NotFoundError, match="see `prsm managers`"):
        forget_manager(database, "three", ADMIN, world.now_ms)
    assert [one.name for one in list_managers(database).managers] == ["one", "again"]


def test_a_folder_that_is_away_is_a_trouble_and_hides_no_other(
    database: Database, tmp_path: Path
) -> None:
    """A share that is not mounted is told, and so is whatever else is wrong."""
    world = World(database)

    def told_of(folder: Path, now_ms: int) -> list[Notification]:
        seen = system_figures_of(database, folder, world.policy, now_ms)
        return notifications(database, seen, [], LIMITS, now_ms)

    (begun,) = told_of(tmp_path / "away", world.now_ms)
    assert (begun.key, begun.state) == ("disk:", "begun")
    assert "away" in str(begun.message)
    assert "mount it again" in str(begun.message)
    assert [one.state for one in told_of(tmp_path, world.now_ms + 1)] == ["over"]


@pytest.mark.parametrize("days", [-30, 30])
def test_a_manager_with_a_wrong_clock_is_not_silent(database: Database, days: int) -> None:
    """And one that was killed is, though its last sign was by another leader's clock."""
    world = World(database)
    world.tick()
    live(database, "one", "one", "1", world.now_ms)
    take_lead(database, "one", LeaderRow("", 0, None, None), world.now_ms)
    live(database, "wrong", "wrong", "1", world.now_ms + days * DAY_MS)
    live(database, "dead", "dead", "1", world.now_ms)
    assert [one.is_silent for one in list_managers(database).managers] == [False] * 3
    world.change_leader(days * 86_400)
    for name in ("one", "wrong"):
        live(database, name, name, "1", world.now_ms)
    assert [one.is_silent for one in list_managers(database).managers] == [False, False, True]


def test_an_agent_that_is_late_is_told_once_and_again_and_when_it_is_back(
    database: Database,
) -> None:
    """Begun, a reminder after the interval, over; and the audit has each."""
    world = World(database)
    world.join("a")
    assert told(world) == []
    world.wait(400)
    (message,) = told(world)
    assert (message.key, message.state) == ("agent:a", "begun")
    assert "agent a is late" in str(message.message)
    assert told(world) == []
    world.wait(RESEND_S)
    (message,) = told(world)
    assert message.state == "still"
    assert told_keys(database) == ["agent:a"]
    world.sync("a")
    (message,) = told(world)
    assert message.state == "over"
    assert told(world) == []
    assert told_keys(database) == []


def test_in_a_window_nobody_is_told_until_it_ends(database: Database) -> None:
    """What is over by then was never a trouble; what still is so is told then."""
    world = World(database)
    world.join("a", "b")
    silence_all(database, world.now_ms + 1_000_000, "new disks", ADMIN, world.now_ms)
    world.wait(400)
    assert told(world) == []
    world.sync("b")
    world.wait(400)
    world.sync("b")
    world.wait(201)
    world.sync("b")
    assert [message.key for message in told(world)] == ["agent:a"]
    with pytest.raises(FormatError, match="30 days"):
        silence_all(database, world.now_ms + 31 * DAY_MS, "", ADMIN, world.now_ms)


def test_each_kind_of_trouble_is_found(database: Database) -> None:
    """Disk, churn, expiry, rounds, backups, updates; each with its limit, and 0 turns it off."""
    world = World(database)
    world.join("a")
    seen = standing(world)
    updates = {
        seen.views[0].row.id: AgentReleaseRow(
            1, version="2.0", outcome="rolled-back", step="self-test", detail="no disk"
        )
    }
    bad = replace(seen, disk_free_bytes=10, last_round_ms=world.now_ms - 20 * DAY_MS)
    bad = replace(bad, last_backup_ms=world.now_ms - 5 * DAY_MS)
    expiries = [
        Expiry("the TLS certificate", Message("alerts.certificate"), world.now_ms + 3 * DAY_MS)
    ]
    found = {
        one.key: str(one.message)
        for one in alerts_of(bad, 11, expiries, updates, LIMITS, world.now_ms)
    }
    assert found == {
        "update:a": "agent a did not update to 2.0: rolled-back at the step self-test: no disk",
        "churn:": "11 units changed hands in a day, more than 10",
        "disk:": "the manager's disk has 10 bytes left; alerts.disk_bytes requires 1 KB; free "
        "some, or add room: below limits.reserve_bytes no uploads are accepted",
        "round:": "no round has begun for 20 days",
        "backup:": "no backup was made for 5 days; the log of prsm-backup.service, or of cron, "
        "says why",
        "expiry:the TLS certificate": "the TLS certificate ends in 3 days",
    }
    what, problem = Message.of_text("x"), Message.of_text("x cannot be read")
    fine = [Expiry("x", what, world.now_ms + 30 * DAY_MS)]
    assert alerts_of(seen, 10, fine, {}, LIMITS, world.now_ms) == []
    unknown = [Expiry("x", what, None, problem)]
    (found_,) = alerts_of(seen, 10, unknown, {}, LIMITS, world.now_ms)
    assert found_ == Alert("expiry:x", problem)
    assert [one.key for one in alerts_of(bad, 99, expiries, updates, OFF, world.now_ms)] == [
        "update:a"
    ]


def test_a_signer_that_is_down_is_told_after_two_days(database: Database) -> None:
    """Long before the timestamp ends, and until it is renewed."""
    world = World(database)
    with database.write() as tx:
        releases.add_metadata(tx, "timestamp", 1, b"{}", world.now_ms + 7 * DAY_MS, world.now_ms)
    world.wait(1.9 * 86_400)
    assert told(world) == []
    world.wait(0.2 * 86_400)
    (message,) = told(world)
    assert (message.key, message.state) == ("expiry:release timestamp", "begun")
    what = Message("alerts.release_role", role="timestamp")
    assert message.message == Message(
        "alerts.expiry",
        parts=[
            Message("alerts.expires", what=what, days=5),
            Message("alerts.release_not_renewed", role="timestamp", days=2),
        ],
    )
    with database.write() as tx:
        releases.add_metadata(tx, "timestamp", 2, b"{}", world.now_ms + 7 * DAY_MS, world.now_ms)
    assert [message.state for message in told(world)] == ["over"]


def test_backups_are_watched_from_the_first_on(database: Database) -> None:
    """One that lacks files is none; the next whole one ends it."""
    world = World(database)

    def made(action: str) -> None:
        note_alone(database, world.now_ms, ADMIN, action, "2026-11-22.tar", files=3)

    world.wait(10 * DAY_S)
    assert told(world) == []
    made("manager.backup")
    world.wait(3 * DAY_S)
    assert told(world) == []
    made("manager.backup-incomplete")
    world.wait(DAY_S)
    assert [(one.key, one.state) for one in told(world)] == [("backup:", "begun")]
    made("manager.backup")
    assert [(one.key, one.state) for one in told(world)] == [("backup:", "over")]


def test_what_was_never_done_is_told_from_the_first_agent_on(database: Database) -> None:
    """A backup, and a round where there are hosts; the first of each ends it, and so does 0."""
    world = World(database)
    world.join("a")
    limits = replace(LIMITS, agent_late_s=0)

    def found(limits: AlertSettings) -> dict[str, str]:
        made = alerts_of(standing(world), 0, [], {}, limits, world.now_ms)
        return {one.key: str(one.message) for one in made if one.key in ("round:", "backup:")}

    world.wait(3 * DAY_S)
    assert found(limits) == {}
    world.wait(1)
    assert list(found(limits)) == ["backup:"]
    assert found(limits)["backup:"].startswith(
        "no backup was ever made, and the first agent joined 3 days ago; run `prsm backup`"
    )
    world.wait(11 * DAY_S)
    assert list(found(limits)) == ["backup:"], "there is nothing to crawl"
    world.hosts("h1.jp")
    assert found(limits)["round:"].startswith(
        "no round has ever begun, and the first agent joined 14 days ago; begin one by"
    )
    assert found(replace(limits, round_days=0, backup_days=0)) == {}
    note_alone(database, world.now_ms, ADMIN, "manager.backup", "x.tar")
    world.wait(600)
    assert list(found(limits)) == ["round:"]


def test_an_agent_that_calls_and_is_amiss_is_told_after_hours(database: Database) -> None:
    """Idle with work, a full disk, a wrong clock, reports that wait: each with its own key."""
    world = World(database)
    world.join("a")
    limits = replace(OFF, agent_problem_s=6 * 3600)

    def look_on(hours: float, **changed: int) -> list[tuple[str, str]]:
        world.wait(hours * 3600)
        world.sync("a")
        with database.write() as tx:
            agents.update(tx, world.agents["a"].identity.id, **changed)
        return [(one.key, one.state) for one in told(world, limits)]

    bad = {"disk_free_bytes": 500_000_000, "skew_ms": 120_000, "reports_waiting": 20}
    good = {"disk_free_bytes": 2_000_000_000, "skew_ms": 60_000, "reports_waiting": 19}
    keys = ["agent-disk:a", "agent-clock:a", "reports:a"]
    assert look_on(0, **bad) == []
    assert look_on(3, **bad) == []
    assert look_on(1, **good) == []
    assert told_keys(database) == []
    assert look_on(1, **bad) == []
    silence_all(database, world.now_ms + 7 * 3_600_000, "new disks", ADMIN, world.now_ms)
    assert look_on(6, **bad) == []
    assert look_on(1, **bad) == [(key, "begun") for key in keys]
    assert look_on(0.5, **bad) == []
    assert look_on(1, **bad) == [(key, "still") for key in keys]
    assert sorted(look_on(1, **good)) == sorted((key, "over") for key in keys)
    assert told_keys(database) == []


def test_an_agent_that_holds_work_and_fetches_nothing_is_told(database: Database) -> None:
    """By its liveness; what it says itself, or that it has nothing to do, is a reason."""
    world = World(database)
    world.join("a", "b")
    one, other = standing(world).views
    row = replace(one.row, last_contact_ms=world.now_ms)
    facts = AgentFacts("sync", world.now_ms, 60_000, units_held=3)
    idle = replace(one, row=row, liveness=liveness(facts, world.now_ms))
    says = replace(other, liveness=liveness(replace(facts, says="its hours"), world.now_ms))
    (trouble,) = agent_alerts([idle, says], [], 3600)
    why = Message("fleet.idle_units_never", units=3)
    assert trouble == Alert("idle:a", Message("alerts.agent_idle", name="a", why=why), 3600)
    assert list(agent_alerts([idle, says], [], 0)) == []


def test_what_is_over_is_told_even_without_reminders() -> None:
    """An interval of 0 means: never again, until it is over."""
    full = Message.of_text("full")
    row = ToldRow("disk:", full, 1, 1)
    assert due([Alert("disk:", full)], [row], 0, DAY_MS, quiet=False) == []
    assert due([], [row], 0, DAY_MS, quiet=False) == [Notification("disk:", "over", full, 1)]
    assert due([], [row], 0, DAY_MS, quiet=True) == []


def test_what_somebody_knows_of_is_told_only_when_it_is_over(database: Database) -> None:
    """A silence keeps reminders back; when it has ended early, what still is so is told."""
    world = World(database)
    world.join("a", "b")
    world.wait(400)
    assert {message.key for message in told(world)} == {"agent:a", "agent:b"}
    for name in ("a", "b"):
        until_ms = world.now_ms + 10 * round(RESEND_S) * 1000
        silence(database, f"agent:{name}", until_ms, "its site moves", ADMIN, world.now_ms)
    world.wait(RESEND_S)
    assert told(world) == []
    world.sync("a")
    assert [(message.key, message.state) for message in told(world)] == [("agent:a", "over")]
    (row, _) = list_silences(database, world.now_ms)
    assert (row.key, row.reason, row.made_by) == ("agent:b", "its site moves", ADMIN.name)
    end_silence(database, row.id, ADMIN, world.now_ms)
    assert [(message.key, message.state) for message in told(world)] == [("agent:b", "still")]
    assert audit_page(database, action="alert.end-silence")[0].subject == "agent:b"


def test_a_window_that_is_planned_begins_and_ends_by_itself(database: Database) -> None:
    """Before it and after it troubles are told; one that is taken back never was."""
    world = World(database)
    world.join("a")
    hour_ms = 3_600_000
    begin = world.now_ms + 100_000
    add_window(database, begin, begin + hour_ms, "new switch", ADMIN, world.now_ms)
    add_window(database, begin, begin + 2 * hour_ms, "mistaken", ADMIN, world.now_ms)
    (mistaken,) = [row for row in list_silences(database, begin) if row.reason == "mistaken"]
    end_silence(database, mistaken.id, ADMIN, world.now_ms)
    world.wait(400)
    assert told(world) == []
    world.wait(3600)
    assert [message.key for message in told(world)] == ["agent:a"]


@pytest.mark.parametrize(
    ("from_s", "until_s", "said"),
    [
        (10, 10, "after the beginning"),
        (-50, -10, "in the future"),
        (0, 31 * 86_400, "30 days"),
        (500 * 86_400, 501 * 86_400, "400 days ahead"),
    ],
)
def test_what_is_no_window_is_refused(
    database: Database, from_s: int, until_s: int, said: str
) -> None:
    """With what is wrong."""
    now_ms = World(database).now_ms
    with pytest.raises(FormatError, match=said):
        add_window(database, now_ms + from_s * 1000, now_ms + until_s * 1000, "", ADMIN, now_ms)
    with pytest.raises(FormatError, match="reason"):
        silence(database, "agent:a", now_ms + 1000, " ", ADMIN, now_ms)
    with pytest.raises(NotFoundError, match="silence 9"):
        end_silence(database, 9, ADMIN, now_ms)


@pytest.mark.parametrize("end", ["halt", "revoke"])
def test_an_update_that_nobody_is_offered_any_more_is_no_trouble(
    database: Database, end: str
) -> None:
    """Halted or revoked, there is nothing left to do about it; rolled out again, there is."""
    world = World(database)
    world.join("a")
    with database.write() as tx:
        row = {"version": "2.0", "target": "prs-2.0.tar.gz", "sha256": "0" * 64}
        releases.add(tx, {**row, "size_bytes": 1, "published_by": "koji", "published_ms": 1})
    roll_out(database, "2.0", "all", ADMIN, world.now_ms)
    agent = world.agents["a"].identity
    report_update(database, agent, "2.0", "went-back", "self-test", "no disk", world.now_ms)
    assert [(one.key, one.state) for one in told(world)] == [("update:a", "begun")]
    if end == "halt":
        halt(database, "2.0", ADMIN, world.now_ms)
    else:
        with database.write() as tx:
            releases.change(tx, "2.0", revoked_ms=world.now_ms)
    assert [(one.key, one.state) for one in told(world)] == [("update:a", "over")]
    assert told(world) == []
    if end == "halt":
        roll_out(database, "2.0", "all", ADMIN, world.now_ms)
        assert [(one.key, one.state) for one in told(world)] == [("update:a", "begun")]


def test_an_idle_agent_that_sleeps_is_neither_over_nor_begun_anew(database: Database) -> None:
    """Awake some hours each night, and fetching nothing: told once, and over when it fetches."""
    world = World(database)
    world.join("a")
    limits = replace(OFF, agent_problem_s=6 * 3600, repeat_interval_s=0)
    (one,) = standing(world).views

    def night(state: LivenessState, hours: float, *, wrong: bool) -> list[tuple[str, str]]:
        world.leap(hours * 3600)
        said = replace(one.liveness, state=state, attention=wrong)
        seen = replace(standing(world), views=[replace(one, liveness=said)])
        made = notifications(database, seen, [], limits, world.now_ms)
        return [(message.key, message.state) for message in made]

    idle, asleep, working = (LivenessState.IDLE, LivenessState.ASLEEP, LivenessState.WORKING)
    assert night(idle, 1, wrong=True) == []
    assert night(idle, 4, wrong=True) == []
    assert night(asleep, 19, wrong=False) == []
    assert night(idle, 1, wrong=True) == [("idle:a", "begun")]
    assert night(asleep, 19, wrong=False) == []
    assert night(idle, 3, wrong=True) == []
    assert night(working, 1, wrong=False) == [("idle:a", "over")]
