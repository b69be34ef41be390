"""A person's own password."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.errors import ForbiddenError, SlowDownError, UnknownKeyError
from manager.operations.actor import Actor
from manager.operations.people import passwords
from manager.operations.people.api_tokens import Holder
from manager.operations.people.audit_log import audit_page
from manager.operations.people.own_password import change_own_password
from manager.operations.people.users import add_user, change_password, login, session_of
from shared.errors import FormatError
from shared.wire.names import hash_of_key

LOCAL = Actor("local", "root")
HANA = Holder("user", "hana", "viewer", "")
ACTOR = HANA.actor("request-1")
OLD, NEW = "correct horse battery", "staple battery horse"


def change(db: Database, old: str, new: str, now_ms: int, session_hash: str = "") -> None:
    """Let hana change her password."""
    change_own_password(db, HANA, session_hash, old, new, ACTOR, now_ms)


def test_a_new_password_ends_the_other_sessions(database: Database) -> None:
    """Who asks stays logged in; whoever else has a session, or knows the old one, is out."""
    add_user(database, "hana", OLD, "viewer", LOCAL, 0)
    add_user(database, "ken", OLD, "viewer", LOCAL, 0)
    here, elsewhere = (hash_of_key(login(database, "hana", OLD, 1).token) for _ in range(2))
    of_ken = hash_of_key(login(database, "ken", OLD, 1).token)
    change(database, OLD, NEW, 2, here)
    assert session_of(database, here, 3) is not None
    assert session_of(database, elsewhere, 3) is None
    assert session_of(database, of_ken, 3) is not None
    with pytest.raises(UnknownKeyError):
        login(database, "hana", OLD, 4)
    assert login(database, "hana", NEW, 5).user == "hana"
    (row,) = audit_page(database, action="user.change-own-password")
    assert (row.actor_name, row.subject, row.detail) == ("hana", "hana", "")


def test_the_old_password_is_not_guessed_by_who_found_a_session(database: Database) -> None:
    """Wrong ones are counted as at a login, and are an alert."""
    add_user(database, "hana", OLD, "viewer", LOCAL, 0)
    for _ in range(5):
        with pytest.raises(ForbiddenError, match="the current password is wrong"):
            change(database, "wrong", NEW, 1000)
    with pytest.raises(SlowDownError):
        change(database, OLD, NEW, 1000)
    with pytest.raises(SlowDownError):
        login(database, "hana", OLD, 1000)
    assert len(audit_page(database, action="user.fail-logins", alerts=True)) == 1
    change(database, OLD, NEW, 3000)
    assert login(database, "hana", NEW, 3001).user == "hana"


def test_what_is_no_new_password_is_refused(database: Database) -> None:
    """Too short, or the old one again; the old one stays."""
    add_user(database, "hana", OLD, "viewer", LOCAL, 0)
    with pytest.raises(FormatError, match="must be 12 to 1024"):
        change(database, OLD, "short", 1)
    with pytest.raises(FormatError, match="is the present one"):
        change(database, OLD, OLD, 1)
    assert login(database, "hana", OLD, 2).user == "hana"


@pytest.mark.parametrize(
    "asks", [Holder("user", "hana", "viewer", "nightly"), Holder("local", "local", "admin", "")]
)
def test_only_people_have_passwords(database: Database, asks: Holder) -> None:
    """A script's token must not take over its person; this machine names a user instead."""
    add_user(database, "hana", OLD, "viewer", LOCAL, 0)
    with pytest.raises(ForbiddenError, match="has no password to change"):
        change_own_password(database, asks, "", OLD, NEW, ACTOR, 1)
    assert login(database, "hana", OLD, 2).user == "hana"


def test_an_administrator_who_is_faster_wins(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password that was set while the old one was looked at is not set back."""
    add_user(database, "hana", OLD, "viewer", LOCAL, 0)
    matches = passwords.matches

    def slowly(password_hash: str | None, password: str) -> bool:
        monkeypatch.setattr(passwords, "matches", matches)
        change_password(database, "hana", "by the administrator", LOCAL, 1)
        return matches(password_hash, password)

    monkeypatch.setattr(passwords, "matches", slowly)
    with pytest.raises(ForbiddenError, match="the current password is wrong"):
        change(database, OLD, NEW, 1)
    assert login(database, "hana", "by the administrator", 2).user == "hana"
