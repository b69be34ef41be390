"""Users, passwords, sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from manager.db.engine import Database
from manager.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    SlowDownError,
    UnknownKeyError,
)
from manager.operations.actor import Actor
from manager.operations.people import passwords
from manager.operations.people.audit_log import audit_page
from manager.operations.people.sessions import list_sessions
from manager.operations.people.users import (
    add_user,
    change_password,
    list_users,
    login,
    logout,
    session_of,
    set_role,
    set_user_disabled,
)
from shared.errors import FormatError
from shared.wire.names import hash_of_key

LOCAL = Actor("local", "root")
GOOD = "correct horse battery"


def test_a_user_logs_in_and_out(database: Database) -> None:
    """A session holds from login until logout, whichever replica is asked."""
    add_user(database, "hana", GOOD, "admin", LOCAL, 0)
    session = login(database, "hana", GOOD, 1000)
    known = session_of(database, hash_of_key(session.token), 2000)
    assert known is not None
    assert (known.name, known.role) == ("hana", "admin")
    logout(database, hash_of_key(session.token), 3000)
    assert session_of(database, hash_of_key(session.token), 4000) is None


def _between(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen once, between the look at a password and the session's beginning."""
    waiting = [happens]

    def renewed(_hash: str, _password: str) -> None:
        if waiting:
            waiting.pop()()

    monkeypatch.setattr(passwords, "renewed", renewed)


def test_a_login_does_not_outlive_the_password_that_it_showed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever had begun with the old one while the new one was set is refused, and counted."""
    add_user(database, "hana", GOOD, "admin", LOCAL, 0)
    new = "staple battery horse"
    _between(monkeypatch, lambda: change_password(database, "hana", new, LOCAL, 500))
    with pytest.raises(UnknownKeyError, match="user name or password is wrong"):
        login(database, "hana", GOOD, 1000)
    assert list_sessions(database, "hana", 1000) == []
    assert audit_page(database, action="user.login") == []
    assert login(database, "hana", new, 2000).user == "hana"


def test_a_login_sees_what_became_of_its_user_meanwhile(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Disabled is out, another role is what holds, and the same password hashed anew is right."""
    add_user(database, "ken", GOOD, "admin", LOCAL, 0)
    add_user(database, "hana", GOOD, "admin", LOCAL, 0)
    _between(monkeypatch, lambda: change_password(database, "hana", GOOD, LOCAL, 500))
    assert login(database, "hana", GOOD, 1000).role == "admin"
    _between(monkeypatch, lambda: set_role(database, "hana", "viewer", LOCAL, 1500))
    assert login(database, "hana", GOOD, 2000).role == "viewer"
    _between(monkeypatch, lambda: set_user_disabled(database, "hana", LOCAL, 2500, disabled=True))
    with pytest.raises(ForbiddenError, match="is disabled"):
        login(database, "hana", GOOD, 3000)
    assert list_sessions(database, "hana", 3000) == []


def test_a_session_ends_by_itself(database: Database) -> None:
    """After its time a session is over."""
    add_user(database, "hana", GOOD, "viewer", LOCAL, 0)
    session = login(database, "hana", GOOD, 0, session_s=10)
    assert session_of(database, hash_of_key(session.token), 9_999) is not None
    assert session_of(database, hash_of_key(session.token), 10_000) is None


def test_wrong_name_and_wrong_password_look_the_same(database: Database) -> None:
    """Nobody learns which names exist."""
    add_user(database, "hana", GOOD, "viewer", LOCAL, 0)
    with pytest.raises(UnknownKeyError) as wrong_password:
        login(database, "hana", "not it at all", 1)
    with pytest.raises(UnknownKeyError) as wrong_name:
        login(database, "nobody", GOOD, 1)
    assert str(wrong_password.value) == str(wrong_name.value)


def test_guessing_is_slowed_down_but_never_locks_out(database: Database) -> None:
    """After five failures each try must wait longer; after the wait the right password is good."""
    add_user(database, "hana", GOOD, "viewer", LOCAL, 0)
    for _ in range(5):
        with pytest.raises(UnknownKeyError):
            login(database, "hana", "wrong", 1000)
    with pytest.raises(SlowDownError) as slow:
        login(database, "hana", GOOD, 1000)
    assert slow.value.retry_after_s == 2
    with pytest.raises(UnknownKeyError):
        login(database, "hana", "wrong", 3000)
    with pytest.raises(SlowDownError) as slower:
        login(database, "hana", GOOD, 3000)
    assert slower.value.retry_after_s == 4
    assert login(database, "hana", GOOD, 7000).user == "hana"
    with pytest.raises(UnknownKeyError):  # counted from zero again
        login(database, "hana", "wrong", 7001)


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> threading.Barrier:
    """Let eight logins read the count of failures before one of them is counted."""
    barrier, matches = threading.Barrier(8), passwords.matches

    def meet(password_hash: str | None, password: str) -> bool:
        barrier.wait(60)
        return matches(password_hash, password)

    monkeypatch.setattr(passwords, "matches", meet)
    return barrier


def tried(database: Database, passwords: list[str]) -> list[type[Exception] | None]:
    """Log in with all passwords side by side; return what each was answered."""

    def attempt(password: str) -> type[Exception] | None:
        try:
            login(database, "hana", password, 1000)
        except (UnknownKeyError, SlowDownError) as error:
            return type(error)
        return None

    with ThreadPoolExecutor(len(passwords)) as pool:
        return list(pool.map(attempt, passwords))


def test_guessing_side_by_side_has_five_tries_and_is_an_alert(
    database: Database, side_by_side: threading.Barrier
) -> None:
    """Who sends many passwords at once is counted, slowed down and told of as who sends one."""
    add_user(database, "hana", GOOD, "viewer", LOCAL, 0)
    answers = tried(database, ["wrong"] * side_by_side.parties)
    assert answers.count(UnknownKeyError) == 5
    assert answers.count(SlowDownError) == 3
    (alert,) = audit_page(database, action="user.fail-logins", alerts=True)
    assert alert.subject == "hana"


def test_a_guess_beside_others_is_not_let_in_after_the_fifth(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right password that was looked at while five wrong ones were counted has to wait, too."""
    add_user(database, "hana", GOOD, "viewer", LOCAL, 0)
    matches = passwords.matches

    def slowly(password_hash: str | None, password: str) -> bool:
        monkeypatch.setattr(passwords, "matches", matches)
        for _ in range(5):
            with pytest.raises(UnknownKeyError):
                login(database, "hana", "wrong", 1000)
        return matches(password_hash, password)

    monkeypatch.setattr(passwords, "matches", slowly)
    with pytest.raises(SlowDownError):
        login(database, "hana", GOOD, 1000)
    assert login(database, "hana", GOOD, 3000).user == "hana"


def test_a_clock_that_went_back_does_not_lock_out(database: Database) -> None:
    """A failure in the future, left by a clock that jumped, slows nobody down."""
    add_user(database, "hana", GOOD, "viewer", LOCAL, 0)
    for _ in range(9):
        with pytest.raises((UnknownKeyError, SlowDownError)):
            login(database, "hana", "wrong", 10**13)
    assert login(database, "hana", GOOD, 1000).user == "hana"


def test_a_new_password_ends_the_sessions(database: Database) -> None:
    """Who changes a password because it leaked is rid of the thief at once."""
    add_user(database, "hana", GOOD, "viewer", LOCAL, 0)
    session = login(database, "hana", GOOD, 1)
    change_password(database, "hana", GOOD + "!", LOCAL, 2)
    assert session_of(database, hash_of_key(session.token), 3) is None
    with pytest.raises(UnknownKeyError):
        login(database, "hana", GOOD, 4)
    login(database, "hana", GOOD + "!", 5)
    with pytest.raises(NotFoundError):
        change_password(database, "nobody", GOOD, LOCAL, 6)


def test_a_disabled_user_is_out_and_told_so(database: Database) -> None:
    """Disabling ends sessions; the right password is answered with the reason."""
    add_user(database, "hana", GOOD, "admin", LOCAL, 0)
    add_user(database, "ken", GOOD, "operator", LOCAL, 0)
    session = login(database, "ken", GOOD, 1)
    set_user_disabled(database, "ken", LOCAL, 2, disabled=True)
    assert session_of(database, hash_of_key(session.token), 3) is None
    with pytest.raises(ForbiddenError, match="disabled"):
        login(database, "ken", GOOD, 4)


def test_another_role_lets_nobody_in(database: Database) -> None:
    """Who is disabled stays so until an administrator says otherwise, in an act of its own."""
    add_user(database, "ken", GOOD, "operator", LOCAL, 0)
    set_user_disabled(database, "ken", LOCAL, 1, disabled=True)
    set_role(database, "ken", "viewer", LOCAL, 2)
    (ken,) = list_users(database)
    assert (ken.role, ken.disabled_ms) == ("viewer", 1)
    with pytest.raises(ForbiddenError, match="disabled"):
        login(database, "ken", GOOD, 3)
    set_user_disabled(database, "ken", LOCAL, 4, disabled=False)
    assert login(database, "ken", GOOD, 5).role == "viewer"
    done = [row.action for row in audit_page(database, subject="ken")]
    assert done == ["user.login", "user.enable", "user.set-role", "user.disable", "user.add"]


def test_the_last_administrator_stays(database: Database) -> None:
    """No act leaves the manager without anybody who may act."""
    add_user(database, "hana", GOOD, "admin", LOCAL, 0)
    with pytest.raises(ConflictError, match="last administrator"):
        set_role(database, "hana", "viewer", LOCAL, 1)
    with pytest.raises(ConflictError, match="last administrator"):
        set_user_disabled(database, "hana", LOCAL, 1, disabled=True)
    add_user(database, "ken", GOOD, "admin", LOCAL, 2)
    set_user_disabled(database, "ken", LOCAL, 3, disabled=True)
    with pytest.raises(ConflictError, match="last administrator"):  # one who is out does not count
        set_role(database, "hana", "viewer", LOCAL, 4)
    set_user_disabled(database, "ken", LOCAL, 5, disabled=False)
    set_user_disabled(database, "hana", LOCAL, 6, disabled=True)


@pytest.mark.parametrize(
    ("name", "password", "role", "problem"),
    [
        ("ha na", GOOD, "viewer", "user name"),
        ("hana", "short", "viewer", "password of 5 characters: must be 12 to 1024"),
        ("hana", "x" * 2000, "viewer", "password of 2000"),
        ("hana", GOOD, "god", "role 'god': must be one of viewer, operator, admin"),
    ],
)
def test_what_cannot_be_is_refused(
    database: Database, name: str, password: str, role: str, problem: str
) -> None:
    """Names, passwords and roles are checked before anything is kept."""
    with pytest.raises(FormatError, match=problem):
        add_user(database, name, password, role, LOCAL, 0)
    assert list_users(database) == []


def test_a_name_is_taken_once(database: Database) -> None:
    """Two users cannot have one name."""
    add_user(database, "hana", GOOD, "viewer", LOCAL, 0)
    with pytest.raises(ConflictError, match="exists already"):
        add_user(database, "hana", GOOD, "admin", LOCAL, 1)
