"""A person's own password: changed by who knows the one before, without an administrator."""

from __future__ import annotations

from manager.db import users
from manager.db.engine import Database
from manager.errors import ForbiddenError
from manager.operations import passwords
from manager.operations.actor import Actor, note
from manager.operations.api_tokens import Holder
from shared.errors import FormatError

__all__ = ["change_own_password"]


def change_own_password(
    db: Database,
    holder: Holder,
    session_hash: str,
    old: str,
    new: str,
    actor: Actor,
    now_ms: int,
    *,
    address: str = "-",
    forwarded_for: str = "",
) -> None:
    """Set the password of who asks, and end all other sessions of that person.

    session_hash: SHA-256 of the token of the session that asks, which goes on. address and
    forwarded_for: as at a login; old: guesses are counted, slowed down and logged as there.
    Raises FormatError (the new one is too short or too long, or the old one again), ForbiddenError
    (the old one is wrong; no person asks), SlowDownError.
    """
    if holder.kind != "user" or holder.token:
        raise ForbiddenError(
            f"{holder.actor_name} has no password to change: log in, or use `prsm users passwd`"
        )
    name = holder.name
    with passwords.told("new password", name, address, forwarded_for):
        with db.read() as tx:
            failed = users.failures(tx, name)
            user = users.by_name(tx, name)
        passwords.require_no_pause(failed, now_ms)
        if not passwords.matches(user.password_hash if user is not None else None, old):
            passwords.count_failure(db, name, now_ms)
            raise ForbiddenError("the present password is another one")
        if new == old:
            raise FormatError("the new password is the present one; choose another one")
        hashed = passwords.hashed(new)
        with db.write() as tx:
            passwords.require_no_pause(users.failures(tx, name), now_ms)
            now = users.by_name(tx, name)
            if user is None or now is None or now.password_hash != user.password_hash:
                raise ForbiddenError("the present password is another one")
            users.set_password(tx, now.id, hashed)
            users.delete_sessions(tx, now.id, but=session_hash)
            users.forget_failures(tx, name)
            note(tx, now_ms, actor, "user.own-password", name)
