"""`prsm tokens`, `fleet`, `alerts`, `users sessions`, `settings show` and `agents place`."""

from __future__ import annotations

from pathlib import Path

from manager.operations.people.users import add_user, list_users
from tests.manager.asgi import Caller
from tests.manager.cli.conftest import Prsm
from tests.manager.running import LOCAL, Running

PASSWORD = "correct horse battery"


def test_a_token_is_printed_once_and_revoked(prsm: Prsm, manager: Running) -> None:
    """The token alone on standard output, so that a script can take it."""
    add_user(manager.manager.db, "ann", PASSWORD, "operator", LOCAL, manager.clock())
    assert "No token yet" in prsm("tokens").stdout
    made = prsm("tokens", "add", "nightly", "--user", "ann", "--days", "30")
    token = made.stdout.strip()
    assert token.startswith("prsm_")
    assert "shown this once" in made.stderr
    caller = Caller(manager.public, headers={"Authorization": f"Bearer {token}"})
    assert caller.get("/api/v1/agents").status_code == 200
    listed = prsm("tokens").stdout
    assert "nightly" in listed
    assert token not in listed
    prsm("tokens", "add", "strong", "--user", "ann", "--role", "admin", code=1)
    prsm("tokens", "revoke", "1")
    assert caller.get("/api/v1/agents").status_code == 401
    assert "not found among yours" in prsm("tokens", "revoke", "9", code=1).stderr


def test_sessions_are_listed_and_ended(prsm: Prsm, manager: Running) -> None:
    """By user; nobody's are none."""
    add_user(manager.manager.db, "ann", PASSWORD, "viewer", LOCAL, manager.clock())
    assert "logged in nowhere" in prsm("users", "sessions", "ann").stdout
    manager.anybody.post("/api/v1/login", json={"name": "ann", "password": PASSWORD})
    assert len(prsm("users", "sessions", "ann").stdout.splitlines()) == 2
    assert "ended 1 session of ann" in prsm("users", "logout", "ann").stdout
    assert "not found" in prsm("users", "logout", "bob", code=1).stderr


def test_a_user_is_disabled_and_enabled(prsm: Prsm, manager: Running) -> None:
    """Another role changes nothing about it."""
    add_user(manager.manager.db, "ann", PASSWORD, "viewer", LOCAL, manager.clock())
    assert "ann can no longer log in" in prsm("users", "disable", "ann").stdout
    assert "ann is operator" in prsm("users", "role", "ann", "operator").stdout
    (ann,) = list_users(manager.manager.db)
    assert (ann.role, ann.disabled_ms) == ("operator", manager.clock())
    assert "ann may log in again" in prsm("users", "enable", "ann").stdout
    (ann,) = list_users(manager.manager.db)
    assert ann.disabled_ms is None


def test_tokens_end_with_a_password_where_that_is_asked_for(prsm: Prsm, manager: Running) -> None:
    """Else it is said that they go on."""
    add_user(manager.manager.db, "ann", PASSWORD, "viewer", LOCAL, manager.clock())
    prsm("tokens", "add", "nightly", "--user", "ann")
    new = f"{PASSWORD}!\n"
    kept = prsm("users", "passwd", "ann", "--password-stdin", stdin=new).stdout
    assert "kept 1 token of its scripts" in kept
    ended = prsm("users", "passwd", "ann", "--password-stdin", "--tokens", stdin=new).stdout
    assert "revoked 1 token of its scripts" in ended


def test_the_block_list_is_kept_from_here(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """Lines from arguments and files; a bad one names its line, and nothing is taken."""
    assert "No URL is blocked" in prsm("fleet").stdout
    lines = tmp_path / "lines"
    lines.write_text("# comment\n/more/\n")
    done = prsm("fleet", "block", "/private/", "--file", str(lines), "--reason", "asked for")
    assert "2 lines are new" in done.stdout
    assert "asked for" in prsm("fleet").stdout
    assert "is blocked by line 1" in prsm("fleet", "try", "a.example/private/").stdout
    assert "is not blocked" in prsm("fleet", "try", "a.example").stdout
    assert "line 2: '(b' is no RE2" in prsm("fleet", "block", "/a", "(b", code=1).stderr
    prsm("fleet", "unblock", "1")
    assert "is not blocked" in prsm("fleet", "try", "a.example/private/").stdout
    prsm("fleet", "limit", "--interval-s", "30")
    assert "interval at least 30 s" in prsm("fleet").stdout
    prsm("fleet", "limit")
    assert "interval" not in prsm("fleet").stdout


def test_silences_and_windows_are_kept_from_here(prsm: Prsm, manager: Running) -> None:
    """With number, reason and end; a test message says who did not take it."""
    assert "Nothing is wrong" in prsm("alerts").stdout
    prsm("alerts", "silence", "agent:a.example", "--hours", "2", "--reason", "moves")
    listed = prsm("alerts", "silences").stdout
    assert "agent:a.example" in listed
    prsm("alerts", "end-silence", "1")
    prsm("alerts", "window", "2026-10-01T22:00", "2026-10-02T02:00", "--reason", "new switch")
    assert "everything" in prsm("alerts", "silences").stdout
    past = prsm("alerts", "window", "2020-01-01 00:00", "2020-01-02 00:00", code=1)
    assert "in the future" in past.stderr
    assert "no recipients" in prsm("alerts", "test", code=1).stderr
    assert "quiet until" in prsm("alerts", "quiet", "--hours", "1").stdout
    assert "alerts are sent" in prsm("alerts", "quiet", "--hours", "0").stdout


def test_settings_and_places(prsm: Prsm, manager: Running) -> None:
    """What is not at its default, and where an agent is."""
    assert "limits.reserve_bytes" in prsm("settings", "show").stdout
    assert "limits.log_bytes" in prsm("settings", "show", "--all").stdout
    assert "[limits]" in prsm("settings").stdout
    manager.agent("a.example")
    prsm("agents", "place", "a.example", "35.03", "135.78")
    assert '"latitude": 35.03' in prsm("agents", "show", "a.example", "--json").stdout
    prsm("agents", "place", "--", "a.example", "-33.9", "18.4")
    prsm("agents", "place", "a.example")
    assert '"latitude": null' in prsm("agents", "show", "a.example", "--json").stdout
    assert "LONGITUDE" in prsm("agents", "place", "a.example", "1", code=2).stderr
