"""Commands about a home say what is, what is missing, and what to type next."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agent.cli import main
from agent.cli import status as status_commands
from agent.control.doctor import Check, check_clock, check_files
from agent.control.drain import read_holds
from agent.control.lock import HomeLock
from agent.control.status import Status, Stopped, write_status
from agent.settings import RENAMED, Home, Settings, read_settings
from shared.messages import Message

NOW = datetime(2026, 11, 27, tzinfo=UTC)
STATUS = Status(
    name="prs1",
    manager="https://prsm.example.jp",
    version="1",
    pid=7,
    started_ms=1_700_000_000_000,
    written_ms=1_700_000_000_000,
    state="paused",
    reason=Message.of_text("2 bytes are free"),
    trouble=Message("agent_errors.manager_busy", status=503, reason="busy"),
    units=5,
    units_finished=2,
    pages=70,
    reports_refused=(Message.of_text("00000001.log.a: 400: line 3: no"),),
    tightened=(Message("agent.asked_interval", interval_s=60.0),),
    not_fetched={"too deep": Stopped(3, ("http://a.jp/x/",))},
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "prs")
    home.make()
    return home


def prs(home: Home, *words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["--home", str(home.path), *words])
    return result.exit_code, result.stdout, result.stderr


def enrolled(home: Home, **changes: str) -> None:
    values = {"manager": "https://a.jp", "name": "prs1", "key": "k", "token_hash": "t"} | changes
    home.key.write_text(json.dumps(values))
    home.key.chmod(0o600)


def test_run_names_what_is_missing(home: Home) -> None:
    """First the contact, then the key: each with what to write or to type."""
    code, _, err = prs(home, "run", "--once")
    assert code == 1
    assert "under [robot] in" in err
    code, _, err = prs(home, "run", "--once", "--set", "robot.contact=a@example.org")
    assert code == 1
    assert "prs enrol URL" in err


def test_a_key_of_another_manager_is_not_used(home: Home) -> None:
    """The key goes to the manager that it was made for, and to no other."""
    enrolled(home)
    sets = ("--set", "robot.contact=a@example.org", "--set", "manager.url=https://b.jp/")
    code, _, err = prs(home, "run", *sets)
    assert code == 1
    assert 'manager.url = "https://b.jp", but the key of this home is for https://a.jp' in err


def test_a_bad_block_pattern_of_the_site_is_refused(home: Home) -> None:
    """The site's own pattern must be RE2; it is not passed over."""
    enrolled(home)
    sets = (
        "--set",
        "robot.contact=a@example.org",
        "--set",
        'politeness.blocked_url_patterns=["(?=x)"]',
    )
    code, _, err = prs(home, "run", *sets)
    assert code == 1
    assert "is no RE2 pattern" in err


def test_settings_are_printed(home: Home) -> None:
    """The printed file can be put into the home as it is."""
    code, out, _ = prs(home, "settings")
    assert code == 0
    home.settings.write_text(out)
    assert read_settings(home.path) == Settings(home=home.path)


def test_an_unknown_setting_is_refused(home: Home) -> None:
    """A slip of the pen ends every command that needs the settings."""
    home.settings.write_text("[robot]\ncontcat = 'x'\n")
    code, _, err = prs(home, "doctor")
    assert code == 1
    assert "did you mean robot.contact?" in err


def test_holds_without_a_process(home: Home) -> None:
    """Pause, drain and resume hold for the next process too."""
    assert "the next one will know" in prs(home, "pause")[1]
    assert "the next one will know" in prs(home, "drain")[1]
    holds = read_holds(home.hold)
    assert (holds.paused_by, holds.drained_by) == (("site",), ("site",))
    assert "drained by `prs drain`" in prs(home, "status")[1]
    assert prs(home, "resume")[0] == 0
    assert not read_holds(home.hold).paused


def test_status_of_a_home_that_never_worked(home: Home) -> None:
    """Nothing to show is said with what comes next, and is no error."""
    said = "no agent runs here\n"
    next_step = "it has not joined a crawl yet: prs enrol URL\n"
    assert prs(home, "status") == (0, said + next_step, "")
    code, _, err = prs(home, "start")
    assert code == 1
    assert "run: prs enrol URL" in err
    home.key.touch()
    next_step = "none has run yet: prs start, or prs run in this terminal\n"
    assert prs(home, "status") == (0, said + next_step, "")
    assert json.loads(prs(home, "status", "--json")[1]) == {
        "running": False,
        "updates": [],
        "updates_message": [],
        "status": None,
    }


def test_status_names_a_disk_without_room(home: Home) -> None:
    """An agent that does not run, as it found no room, cannot say so itself."""
    home.settings.write_text("[disk]\nreserve_bytes = 1_000_000_000_000_000\n")
    out = prs(home, "status")[1]
    assert "\ndisk: " in out
    assert "1,000 TB of it reserved for others; make room, or lower disk.reserve_bytes" in out
    home.settings.write_text("[disk]\nreserved = 1\n")
    code, out, _ = prs(home, "status")
    assert (code, "disk:" in out) == (0, False)


def test_doctor_prints_codes_for_programs(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the sentences; exit code 1 where something is wrong, in either form."""

    async def found(*_: object) -> list[Check]:
        return [check_files(256, 664, 200), check_clock(NOW, NOW)]

    monkeypatch.setattr(status_commands, "diagnose", found)
    code, out, _ = prs(home, "doctor", "--json")
    files, clock = json.loads(out)
    assert (code, files["name"], files["good"]) == (1, "files", False)
    assert files["said_message"]["code"] == "doctor.files"
    assert files["said_message"]["params"] == {"limit": 256, "wanted": 664, "hosts": 200}
    assert files["remedy_message"] == {"code": "doctor.files_too_few", "params": {}}
    assert files["said"] in prs(home, "doctor")[1]
    assert (clock["said"], clock["remedy"], clock["remedy_message"]) == (
        "agrees with the manager's", "", None,
    )  # fmt: skip


def test_status_shows_why(home: Home) -> None:
    """What runs, why it does not fetch, what is refused, what was not fetched."""
    write_status(home.status, STATUS)
    code, out, _ = prs(home, "status")
    assert code == 0
    assert "no agent runs here" in out
    lock = HomeLock.take(home.lock)
    out = prs(home, "status")[1]
    lock.release()
    for text in (
        "prs1 at https://prsm.example.jp: paused (process 7)",
        "not fetching: 2 bytes are free",
        "2 of 5 units finished",
        "manager: 503: busy",
        "refused: 00000001.log.a: 400: line 3: no",
        "the manager asks for: an interval of 60 s",
        "not fetched: 3 too deep\n      http://a.jp/x/",
    ):
        assert text in out
    found: dict[str, Any] = json.loads(prs(home, "status", "--json")[1])
    assert found["status"]["pages"] == 70


def test_status_tells_units_that_failed_from_finished_ones(home: Home) -> None:
    """With the reasons; a unit without an address is finished in no count."""
    failures = {"no_such_name": 2, "unreachable": 1}
    there = replace(STATUS, units_finished=0, units_failed=3, failures=failures)
    write_status(home.status, replace(there, names_unanswered=2))
    out = prs(home, "status")[1]
    assert (
        "0 of 5 units finished, 3 failed: 2 no such name (NXDOMAIN), 1 unreachable; "
        "name servers do not answer about 2 hosts\n"
    ) in out


def test_status_names_settings_under_old_names(home: Home) -> None:
    """With the new name, and until when the old one is read."""
    write_status(home.status, replace(STATUS, renamed=tuple(one.message for one in RENAMED)))
    out = prs(home, "status")[1]
    assert (
        "settings: network.resolver was renamed to dns.servers; the old name is accepted until "
        "release 0.4\n"
    ) in out
    assert "network.allowed_ranges was renamed to dns.allowed_networks" in out


def test_a_status_of_the_version_before_is_read(home: Home) -> None:
    """What it does not say is as if there were none."""
    write_status(home.status, STATUS)
    said = json.loads(home.status.read_text())
    for name in ("units_failed", "failures", "names_unanswered", "renamed"):
        del said[name]
    home.status.write_text(json.dumps(said))
    assert "2 of 5 units finished\n" in prs(home, "status")[1]


def test_nothing_from_outside_commands_the_terminal(home: Home) -> None:
    """What the manager or a site wrote is shown without control characters."""
    write_status(home.status, replace(STATUS, message="red \x1b[31m alert\r\n"))
    out = prs(home, "status")[1]
    assert "red  [31m alert" in out
    assert "\x1b" not in out


def test_stop_without_a_process(home: Home) -> None:
    """Stopping what does not run is done already."""
    assert prs(home, "stop") == (0, "no agent runs here\n", "")


def test_doctor_finds_what_is_missing(home: Home) -> None:
    """Without contact and key it says so, each with its remedy, and ends with exit code 1."""
    sets = ("--set", "dns.servers=['127.0.0.1:1']")
    code, out, _ = prs(home, "doctor", *sets)
    assert code == 1
    for text in ("BAD contact: not set", "BAD key: ", "prs enrol URL", "BAD name servers: "):
        assert text in out


def test_an_enrolment_needs_tls(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent to a manager on a line that others can read."""
    monkeypatch.setenv("PRS_JOIN_TOKEN", "token")
    code, _, err = prs(home, "enrol", "http://prsm.example.jp/")
    assert code == 1
    assert "must begin with https://" in err
    assert not home.key.exists()
    assert not home.new_key.exists()


def test_a_refusal_for_programs_has_code_and_parameters(home: Home) -> None:
    """With `--json` standard error is one JSON object, and the exit code stays."""
    home.hold.write_text("{")
    code, out, err = prs(home, "status", "--json")
    assert (code, out) == (1, "")
    said = json.loads(err)
    assert said["code"] == "agent_errors.holds_unreadable"
    assert said["params"]["path"] == str(home.hold)
    assert said["detail"].startswith(f"{home.hold}: cannot be read (")
    code, _, err = prs(home, "status")
    assert (code, err) == (1, f"Error: {said['detail']}\n")


def test_a_wrong_setting_for_programs_has_code_and_parameters(home: Home) -> None:
    """`prs fetch` says it the same way."""
    home.settings.write_text("[manager]\nurl = 'http://a.example'\n")
    code, _, err = prs(home, "fetch", "--json", "http://a.example/")
    assert code == 1
    said = json.loads(err)
    assert said["code"] == "agent_errors.manager_url_plain"
    assert said["params"] == {"name": "manager.url", "value": "http://a.example"}


def test_status_for_programs_has_messages_beside_sentences(home: Home) -> None:
    """Programs read codes, and no sentences."""
    write_status(home.status, STATUS)
    said = json.loads(prs(home, "status", "--json")[1])["status"]
    assert said["trouble"] == "503: busy"
    assert said["trouble_message"] == {
        "code": "agent_errors.manager_busy",
        "params": {"status": 503, "reason": "busy"},
    }
    assert said["tightened"] == ["an interval of 60 s"]
    assert [one["code"] for one in said["tightened_message"]] == ["agent.asked_interval"]
    assert (said["stuck"], said["stuck_message"]) == ("", None)
