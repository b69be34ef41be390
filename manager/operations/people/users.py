"""Users and sessions: the rights of people.

Session tokens are kept as SHA-256; `passwords` hashes passwords, `login_throttle` delays logins
after wrong ones. Cookies and CSRF are left to the web.
"""

from __future__ import annotations

import re
import secrets
from typing import Final, Literal

from manager.db.engine import Database, Transaction
from manager.db.people import api_tokens, users
from manager.db.people.users import SessionUser, User, UserRow
from manager.errors import ConflictError, ForbiddenError, NotFoundError, UnknownKeyError
from manager.operations.actor import Actor, note
from manager.operations.people import passwords
from manager.operations.people.known_devices import known_device, new_device
from manager.operations.people.login_throttle import (
    count_failure,
    forget_failures,
    require_no_pause,
    source_of,
)
from shared.errors import FormatError, about_field, check_choice
from shared.frozen import frozen
from shared.wire.names import hash_of_key

__all__ = [
    "ROLES",
    "PasswordSet",
    "Role",
    "Session",
    "SessionUser",
    "User",
    "add_user",
    "change_password",
    "check_password",
    "count_tokens",
    "list_users",
    "login",
    "logout",
    "session_of",
    "set_role",
    "set_user_disabled",
    "user_named",
]

Role = Literal["viewer", "operator", "admin"]
ROLES: Final[tuple[Role, ...]] = ("viewer", "operator", "admin")

SESSION_S: Final = 12 * 3600

_NAME: Final = re.compile(r"[A-Za-z0-9._@-]{1,64}")


@frozen
class PasswordSet:
    """Effect of a new password on the user's API tokens: ended, and still valid."""

    revoked: int
    left: int


@frozen
class Session:
    """A login. The token is shown to the browser once and kept nowhere.

    device: what makes the browser a known device of the user (`operations.people.known_devices`).
    """

    token: str
    user: str
    role: str
    expires_ms: int
    device: str = ""


def add_user(db: Database, name: str, password: str, role: str, actor: Actor, now_ms: int) -> User:
    """Add a user. Raises FormatError for a name, role or password that cannot be, ConflictError
    where the name is taken."""
    if not _NAME.fullmatch(name):
        raise FormatError("people.bad_name", name=name[:80]).about("name")
    _check_role(role)
    hashed = passwords.hashed(password)
    with db.write() as tx:
        if not users.add(tx, name, hashed, role, now_ms):
            raise ConflictError("people.exists", user=name).about("name")
        note(tx, now_ms, actor, "user.add", name, role=role)
    return User(name, role, now_ms, None)


def change_password(
    db: Database, name: str, password: str, actor: Actor, now_ms: int, *, tokens: bool = False
) -> PasswordSet:
    """Set a user's password and end all sessions of that user; with tokens: those, too.

    Raises FormatError, NotFoundError.
    """
    hashed = passwords.hashed(password)
    with db.write() as tx:
        user = user_named(tx, name)
        users.set_password(tx, user.id, hashed)
        users.delete_sessions(tx, user.id)
        revoked = api_tokens.revoke_of(tx, user.id, now_ms) if tokens else 0
        left = api_tokens.live_of(tx, user.id, now_ms)
        note(tx, now_ms, actor, "user.set-password", name, revoked=revoked)
    return PasswordSet(revoked, left)


def count_tokens(db: Database, name: str, now_ms: int) -> int:
    """Return how many tokens of a user's scripts open something. Raises NotFoundError."""
    with db.read() as tx:
        return api_tokens.live_of(tx, user_named(tx, name).id, now_ms)


def set_role(
    db: Database, name: str, role: str, actor: Actor, now_ms: int, *, shown: str | None = None
) -> None:
    """Set what a user may do; who is disabled stays so.

    shown: the role that the person saw. Raises NotFoundError, ConflictError where no administrator
    would be left, or the role differs from the shown one.
    """
    _check_role(role)
    with db.write() as tx:
        user = user_named(tx, name)
        if shown is not None and shown != user.role:
            raise ConflictError("general.changed_meanwhile", names=(name,))
        if role != "admin":
            _require_another_admin(tx, name)
        users.set_role(tx, user.id, role)
        note(tx, now_ms, actor, "user.set-role", name, role=role)


def set_user_disabled(
    db: Database, name: str, actor: Actor, now_ms: int, *, disabled: bool
) -> None:
    """Keep a user out, whose sessions end and whose tokens open nothing, or let the user in again.

    Raises NotFoundError, ConflictError where no administrator would be left.
    """
    with db.write() as tx:
        user = user_named(tx, name)
        if disabled:
            _require_another_admin(tx, name)
            users.delete_sessions(tx, user.id)
        users.set_disabled(tx, user.id, now_ms if disabled else None)
        note(tx, now_ms, actor, "user.disable" if disabled else "user.enable", name)


def list_users(db: Database) -> list[User]:
    """Return all users by name."""
    with db.read() as tx:
        return users.all_users(tx)


def login(
    db: Database,
    name: str,
    password: str,
    now_ms: int,
    *,
    session_s: float = SESSION_S,
    address: str = "",
    browser: str = "",
    device: str = "",
    request_id: str = "",
) -> Session:
    """Check a password and begin a session with a new token.

    address: of the caller, logged with each refused login; browser: the name it gives itself;
    device: the cookie that a login on it gave it.
    Raises UnknownKeyError (the same words for a wrong name and a wrong password), ForbiddenError
    for a disabled user, SlowDownError after five failures of a name from one address (/64) or
    known device: 2 s, doubled with each, at most 300 s; the fifth is an alert, one a day.
    Logins side by side have five tries together.
    """
    name = name[:64]
    actor = Actor("user", name, request_id, address, browser)
    with passwords.told("login", name, address):
        return _begin(db, password, device, now_ms, session_s, actor)


def _begin(
    db: Database, password: str, device: str, now_ms: int, session_s: float, actor: Actor
) -> Session:
    name = actor.name
    while True:
        user, source = check_password(db, password, device, now_ms, actor)
        if user is None:
            raise UnknownKeyError("people.wrong_login")
        if user.disabled_ms is not None:
            raise ForbiddenError("people.disabled", user=name)
        fresh = passwords.renewed(user.password_hash, password)
        token = secrets.token_urlsafe(32)
        expires_ms = now_ms + round(session_s * 1000)
        with db.write() as tx:
            # Others may have failed while this password was looked at.
            require_no_pause(tx, name, source, now_ms)
            if users.by_name(tx, name) != user:
                # Another password, or the same one hashed again beside this; another role, or none.
                continue
            users.purge(tx, now_ms)
            forget_failures(tx, name, source)
            if fresh is not None:
                users.set_password(tx, user.id, fresh)
            users.add_session(
                tx, hash_of_key(token), user.id, now_ms, expires_ms, actor.address, actor.browser
            )
            note(tx, now_ms, actor, "user.login", name)
        fresh_device = new_device(user.id, fresh or user.password_hash, now_ms)
        return Session(token, name, user.role, expires_ms, fresh_device)


def check_password(
    db: Database, password: str, device: str, now_ms: int, actor: Actor
) -> tuple[UserRow | None, str]:
    """Return the actor's row where this is the password, else None, and the source it counts for.

    A wrong one is counted. Raises SlowDownError where the source must wait.
    """
    name = actor.name
    with db.read() as tx:
        user = users.by_name(tx, name)
        source = known_device(user, device, now_ms) or source_of(actor.address)
        require_no_pause(tx, name, source, now_ms)
    is_right = passwords.matches(user.password_hash if user is not None else None, password)
    if user is None or not is_right:
        count_failure(db, name, source, actor, now_ms)
        return None, source
    return user, source


def session_of(db: Database, token_hash: str, now_ms: int) -> SessionUser | None:
    """Return whose session the token with this SHA-256 is, or None: over, or never was."""
    with db.read() as tx:
        return users.session_user(tx, token_hash, now_ms)


def logout(
    db: Database, token_hash: str, now_ms: int, *, address: str = "", browser: str = ""
) -> None:
    """End a session; one that is over already changes nothing."""
    with db.write() as tx:
        user = users.session_user(tx, token_hash, now_ms)
        if users.delete_session(tx, token_hash) and user is not None:
            actor = Actor("user", user.name, "", address, browser)
            note(tx, now_ms, actor, "user.logout", user.name)


def user_named(tx: Transaction, name: str) -> UserRow:
    """Return the user of a name. Raises NotFoundError."""
    user = users.by_name(tx, name)
    if user is None:
        raise NotFoundError("people.unknown", user=name[:64], see="users")
    return user


def _require_another_admin(tx: Transaction, name: str) -> None:
    """Raise ConflictError where only this user may act as administrator."""
    admins = {
        row.name for row in users.all_users(tx) if row.role == "admin" and not row.disabled_ms
    }
    if admins == {name}:
        raise ConflictError("people.last_administrator", user=name).about("role")


def _check_role(role: str) -> None:
    with about_field("role"):
        check_choice("role", role, ROLES)
