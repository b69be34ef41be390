"""Sessions of users, seen and ended by administrators."""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database
from manager.db.people import users
from manager.errors import NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.people.users import user_named
from shared.frozen import frozen

__all__ = ["OpenSession", "end_sessions", "list_sessions"]

SHOWN: Final = 16
"""Digits of the hash of a session's token by which people name it; they give no access."""


@frozen
class OpenSession:
    """A login that is not over. id: the first digits of its token's hash.

    address, browser: where it was begun, as the browser calls itself.
    """

    id: str
    user: str
    created_ms: int
    expires_ms: int
    address: str = ""
    browser: str = ""


def list_sessions(db: Database, name: str, now_ms: int) -> list[OpenSession]:
    """Return the sessions of a user, the newest first. Raises NotFoundError."""
    with db.read() as tx:
        rows = users.sessions_of(tx, user_named(tx, name).id, now_ms)
    return [
        OpenSession(
            id=row.token_hash[:SHOWN],
            user=name,
            created_ms=row.created_ms,
            expires_ms=row.expires_ms,
            address=row.address,
            browser=row.browser,
        )
        for row in rows
    ]


def end_sessions(db: Database, name: str, actor: Actor, now_ms: int, session: str = "") -> int:
    """End a session of a user, or all; return how many. Raises NotFoundError."""
    with db.write() as tx:
        rows = users.sessions_of(tx, user_named(tx, name).id, now_ms)
        chosen = [row for row in rows if not session or row.token_hash[:SHOWN] == session]
        if session and not chosen:
            raise NotFoundError("people.session_unknown", session=session[:SHOWN], user=name)
        for row in chosen:
            users.delete_session(tx, row.token_hash)
        note(tx, now_ms, actor, "user.end-sessions", name, ended=len(chosen))
    return len(chosen)
