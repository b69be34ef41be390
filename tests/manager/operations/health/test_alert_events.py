"""What happened once is told once: by one message for each kind, whoever leads."""

from __future__ import annotations

from pathlib import Path

from manager.db.engine import Database
from manager.db.health import alerts
from manager.operations.actor import CLOCK, note
from manager.operations.health.alert_events import first_key
from manager.operations.health.alert_views import AlertDesk, OngoingAlert, current_alerts
from manager.operations.health.alerts import Notification, notifications
from manager.operations.health.silences import add_window, end_quiet, silence
from manager.operations.health.system_figures import system_figures_of
from manager.operations.people.audit_log import audit_page
from manager.settings import read_settings
from shared.messages import Message, codes, render
from tests.manager.operations.health.no_alerts import OFF
from tests.manager.operations.world import ADMIN, World

HOUR_MS = 3_600_000


def happen(world: World, action: str, *subjects: str, **detail: object) -> None:
    with world.db.write() as tx:
        for subject in subjects:
            note(tx, world.now_ms, CLOCK, action, subject, alert=True, **detail)


def told(world: World) -> list[Notification]:
    seen = system_figures_of(world.db, Path("/"), world.policy, world.now_ms)
    return notifications(world.db, seen, [], OFF, world.now_ms)


def shown(world: World, tmp_path: Path) -> list[OngoingAlert]:
    def standing() -> object:
        return system_figures_of(world.db, Path("/"), world.policy, world.now_ms)

    settings = read_settings(tmp_path).alerts
    desk = AlertDesk(standing, list, list, settings, [])  # type: ignore[arg-type]
    return current_alerts(world.db, desk, world.now_ms).troubles


def test_an_event_is_told_once_whoever_looks(database: Database) -> None:
    """With its reason and what to do; the audit says that it was told, and that is no event."""
    world = World(database)
    happen(
        world, "agent.detect-clone", "a.example", reason="sequence 3 came from process x after 7"
    )
    (message,) = told(world)
    assert (message.key, message.state) == ("event:agent.detect-clone", "event")
    assert str(message.message) == (
        "two machines show the key of one agent: a.example; sequence 3 came from process x after "
        "7; stop one of them, and let the other join again with a new token"
    )
    world.wait(900)
    assert told(world) == []
    (row,) = audit_page(database, action="alert.")
    assert (row.action, row.subject, row.alert) == (
        "alert.send-event",
        "event:agent.detect-clone",
        False,
    )
    happen(world, "agent.detect-clone", "b.example")
    assert [str(one.message).split("; ")[0][-9:] for one in told(world)] == ["b.example"]


def test_a_reason_by_code_is_part_of_the_message(database: Database) -> None:
    """In the language of who reads it; a reason that is no message and no text is left out."""
    world = World(database)
    why = Message("fleet.clone_sequence", sequence=3, process="x", before=7, other="y")
    happen(world, "agent.detect-clone", "a.example", reason=why)
    happen(world, "host.find-failing", "http://h.jp:80/", reason={"n": 1})
    clone, sick = told(world)
    assert clone.message == Message(
        "alerts.event_agent_detect_clone",
        about=Message("alerts.event_about_reason", names=["a.example"], reason=why),
    )
    assert "プロセス y の連番 7 の後に" in render(clone.message, "ja")
    assert sick.message.params["about"] == Message("alerts.event_about", names=["http://h.jp:80/"])


def test_each_kind_of_event_has_a_sentence() -> None:
    """Those that operations note as alerts, beside the ones that are told as troubles."""
    assert {code for code in codes() if code.startswith("alerts.event_agent_")} == {
        f"alerts.event_agent_{name}"
        for name in ("compare", "detect_clone", "exceed_discoveries", "reuse_token", "suspect")
    }


def test_many_are_one_message_for_each_kind(database: Database) -> None:
    """With how many there were and whose the first were; the next come ten minutes later."""
    world = World(database)
    happen(world, "segment.refuse", *(f"{number}.warc.gz" for number in range(500)))
    happen(world, "user.fail-logins", "hana", "hana")
    refused, guessed = told(world)
    assert str(refused.message) == (
        "a file of captures was refused: 0.warc.gz, 1.warc.gz, 2.warc.gz; 500 times in all; "
        "`prsm audit --alerts` shows details"
    )
    assert "for one user: hana; 2 times in all; ask that person" in str(guessed.message)
    happen(world, "agent.detect-clone", "a.example")
    world.wait(599)
    assert told(world) == []
    world.wait(1)
    assert [one.key for one in told(world)] == ["event:agent.detect-clone"]


def test_what_is_a_trouble_besides_or_older_than_a_day_is_no_event(database: Database) -> None:
    """Who begins with alerts is not told of years."""
    world = World(database)
    happen(world, "agent.suspect", "old.example")
    world.wait(86_401)
    happen(world, "agent.mark-lost", "a.example")
    happen(world, "agent.update-failed", "a.example")
    happen(world, "robot.odd", "a.example")
    (message,) = told(world)
    assert str(message.message) == "robot.odd: a.example; `prsm audit --alerts` shows details"


def test_windows_put_events_off_and_silences_pass_them_over(database: Database) -> None:
    """What happened in a window is told at its end, of a kind that is silent never."""
    world = World(database)
    now_ms = world.now_ms
    add_window(database, now_ms, now_ms + HOUR_MS, "", ADMIN, now_ms)
    silence(database, "event:host.find-failing", now_ms + HOUR_MS, "its site moves", ADMIN, now_ms)
    happen(world, "agent.detect-clone", "a.example")
    happen(world, "host.find-failing", "http://h.jp:80/")
    assert told(world) == []
    end_quiet(database, ADMIN, world.now_ms)
    assert [one.key for one in told(world)] == ["event:agent.detect-clone"]
    world.wait(2 * 3600)
    assert told(world) == []


def test_an_event_is_one_by_any_name_of_its_action(database: Database) -> None:
    """Rows and silences of the version before; webhooks keep the name that receivers know."""
    world = World(database)
    happen(world, "agent.clone", "a.example")
    happen(world, "agent.detect-clone", "b.example")
    happen(world, "host.sick", "http://h.jp:80/")
    with database.write() as tx:
        until_ms = world.now_ms + HOUR_MS
        alerts.add_silence(tx, "event:host.sick", 0, until_ms, "", "old", world.now_ms)
    silence(database, "event:agent.token-reused", until_ms, "known", ADMIN, world.now_ms)
    happen(world, "agent.reuse-token", "a.example")
    (message,) = told(world)
    assert message.key == "event:agent.detect-clone"
    assert "a.example, b.example; 2 times" in str(message.message)
    assert first_key(message.key) == "event:agent.clone"
    assert first_key("agent:a.example") == "agent:a.example"


def test_events_of_a_day_are_shown_with_when_they_are_told(
    database: Database, tmp_path: Path
) -> None:
    """Not yet, then told and never again, until the day is over."""
    world = World(database)
    happen(world, "agent.reuse-token", "a.example")
    (before,) = shown(world, tmp_path)
    assert (before.key, before.told_ms) == ("event:agent.reuse-token", None)
    assert told(world) != []
    (after,) = shown(world, tmp_path)
    assert (after.told_ms, after.next_ms) == (world.now_ms, None)
    world.wait(86_401)
    assert shown(world, tmp_path) == []


def test_a_long_first_window_puts_events_off_as_any_other(database: Database) -> None:
    """What happened at its beginning is told at its end, though that is more than a day ago."""
    world = World(database)
    add_window(database, world.now_ms, world.now_ms + 30 * HOUR_MS, "", ADMIN, world.now_ms)
    assert told(world) == []
    world.wait(3600)
    happen(world, "agent.detect-clone", "a.example", reason="twice")
    for _ in range(3):
        assert told(world) == []
        world.wait(9 * 3600)
    world.wait(3 * 3600)
    assert [one.key for one in told(world)] == ["event:agent.detect-clone"]
