"""Change of one's own password, with the old one and without an administrator."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.people import users
from manager.errors import ForbiddenError
from manager.operations.actor import Actor, note
from manager.operations.people import passwords
from manager.operations.people.api_tokens import Holder
from manager.operations.people.known_devices import new_device
from manager.operations.people.login_throttle import forget_failures, require_no_pause
from manager.operations.people.users import check_password
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
    device: str = "",
) -> str:
    """Set the password of the caller, and end all other sessions of that person.

    session_hash: SHA-256 of the token of the calling session, which continues. device: the cookie
    of a known one; returns its replacement. old: guesses are counted, slowed down and logged as at
    a login, from the actor's address.
    Raises FormatError (the new one is too short or too long, or the old one again), ForbiddenError
    (the old one is wrong; no person asks), SlowDownError.
    """
    if holder.kind != "user" or holder.token:
        raise ForbiddenError("people.no_own_password", caller=holder.actor_name)
    name = holder.name
    with passwords.told("new password", name, actor.address):
        user, source = check_password(db, old, device, now_ms, actor)
        if user is None:
            raise ForbiddenError("people.wrong_password").about("old_password")
        if new == old:
            raise FormatError("people.same_password").about("password")
        hashed = passwords.hashed(new)
        with db.write() as tx:
            require_no_pause(tx, name, source, now_ms)
            now = users.by_name(tx, name)
            if now is None or now.password_hash != user.password_hash:
                raise ForbiddenError("people.wrong_password").about("old_password")
            users.set_password(tx, now.id, hashed)
            users.delete_sessions(tx, now.id, but=session_hash)
            forget_failures(tx, name, source)
            note(tx, now_ms, actor, "user.change-own-password", name)
    return new_device(user.id, hashed, now_ms)
