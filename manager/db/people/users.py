"""Users and their sessions."""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import sessions, users
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "SessionRow",
    "SessionUser",
    "User",
    "UserRow",
    "add",
    "add_session",
    "all_users",
    "by_name",
    "delete_session",
    "delete_sessions",
    "end_sessions",
    "purge",
    "session_user",
    "sessions_of",
    "set_disabled",
    "set_password",
    "set_role",
]


@frozen
class User:
    """A person who may log in."""

    name: str
    role: str
    created_ms: int
    disabled_ms: int | None


@frozen
class UserRow(User):
    """A user with the hash of the password. `disabled_ms`: since when there is no login."""

    id: int
    password_hash: str


@frozen
class SessionUser:
    """A session: its user and its end."""

    user_id: int
    name: str
    role: str
    expires_ms: int


@frozen
class SessionRow:
    """A session by the hash of its token, and where it was begun."""

    token_hash: str
    created_ms: int
    expires_ms: int
    address: str
    browser: str


def by_name(tx: Transaction, name: str) -> UserRow | None:
    """Return the user of that name."""
    return tx.row(UserRow, sa.select(users).where(users.c.name == name))


def all_users(tx: Transaction) -> list[User]:
    """Return all users by name."""
    return tx.rows(User, sa.select(users).order_by(users.c.name))


def add(tx: Transaction, name: str, password_hash: str, role: str, now_ms: int) -> bool:
    """Add a user; False where the name is taken."""
    row = {"name": name, "password_hash": password_hash, "role": role, "created_ms": now_ms}
    return tx.insert_new(users, [row]) == 1


def set_password(tx: Transaction, user_id: int, password_hash: str) -> None:
    """Set the hash of a user's password."""
    tx.execute(users.update().where(users.c.id == user_id).values(password_hash=password_hash))


def set_role(tx: Transaction, user_id: int, role: str) -> None:
    """Set what a user may do."""
    tx.execute(users.update().where(users.c.id == user_id).values(role=role))


def set_disabled(tx: Transaction, user_id: int, disabled_ms: int | None) -> None:
    """Set the time since when a user is disabled; None: enabled."""
    tx.execute(users.update().where(users.c.id == user_id).values(disabled_ms=disabled_ms))


def add_session(
    tx: Transaction,
    token_hash: str,
    user_id: int,
    now_ms: int,
    expires_ms: int,
    address: str = "",
    browser: str = "",
) -> None:
    """Begin a session."""
    row = {"token_hash": token_hash, "user_id": user_id, "address": address, "browser": browser}
    tx.insert(sessions, [{**row, "created_ms": now_ms, "expires_ms": expires_ms}])


def session_user(tx: Transaction, token_hash: str, now_ms: int) -> SessionUser | None:
    """Return whose session it is, where it is not over and its user may still log in."""
    return tx.row(
        SessionUser,
        sa.select(users.c.id.label("user_id"), users.c.name, users.c.role, sessions.c.expires_ms)
        .join(sessions, sessions.c.user_id == users.c.id)
        .where(
            sessions.c.token_hash == token_hash,
            sessions.c.expires_ms > now_ms,
            users.c.disabled_ms.is_(None),
        ),
    )


def sessions_of(tx: Transaction, user_id: int, now_ms: int) -> list[SessionRow]:
    """Return the sessions of a user that are not over, the newest first."""
    live = sessions.c.user_id == user_id, sessions.c.expires_ms > now_ms
    query = sa.select(sessions).where(*live).order_by(sessions.c.created_ms.desc())
    return tx.rows(SessionRow, query)


def delete_session(tx: Transaction, token_hash: str) -> bool:
    """End a session; False where there was none."""
    return tx.changed(sessions.delete().where(sessions.c.token_hash == token_hash)) > 0


def delete_sessions(tx: Transaction, user_id: int, but: str = "") -> None:
    """End all sessions of a user, but that of the token with this hash."""
    others = sessions.c.user_id == user_id, sessions.c.token_hash != but
    tx.execute(sessions.delete().where(*others))


def end_sessions(tx: Transaction) -> None:
    """End all sessions of everybody."""
    tx.execute(sessions.delete())


def purge(tx: Transaction, now_ms: int) -> None:
    """Delete sessions that are over."""
    tx.execute(sessions.delete().where(sessions.c.expires_ms <= now_ms))
