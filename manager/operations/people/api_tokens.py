"""Tokens with which people's scripts use `/api/v1` as they do themselves, and never more.

A token is 256 random bits behind `prsm_`, shown once; its SHA-256 is kept. It may do what both its
role and its user's role allow, at the moment of each request. Invariants: no user makes a token
stronger than the user; a token makes no tokens, so that the access it gives ends with it; the
tokens of a disabled user give no access from the next request on. See ADR 127.
"""

from __future__ import annotations

import re
from typing import Final

from manager.db.engine import Database
from manager.db.people import api_tokens
from manager.db.people.api_tokens import TokenRow
from manager.errors import ConflictError, ForbiddenError, NotFoundError, UnknownKeyError
from manager.operations.actor import Actor, ActorKind, note
from manager.operations.people.users import ROLES, user_named
from shared.errors import FormatError, about_field, check_choice
from shared.frozen import frozen
from shared.wire.names import hash_of_key, new_key

__all__ = [
    "MOST_DAYS",
    "Holder",
    "NewToken",
    "TokenRow",
    "holder_of",
    "list_tokens",
    "make_token",
    "revoke_token",
]

DAY_MS: Final = 86_400_000
MOST_DAYS: Final = 400
MOST_LIVE: Final = 50
PREFIX: Final = "prsm_"
USE_MS: Final = 60_000
"""How exactly the last use is kept: more often it is not written."""

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


@frozen
class Holder:
    """A caller: a user, perhaps by a token, or this machine. token: its name; empty: none."""

    kind: ActorKind
    name: str
    role: str
    token: str

    @property
    def actor_name(self) -> str:
        """Return the name that the audit has: `anna`, or `anna/backup` by that token."""
        return f"{self.name}/{self.token}" if self.token else self.name

    def actor(self, request_id: str, address: str = "", browser: str = "") -> Actor:
        """Return the caller and its address, for the audit."""
        return Actor(self.kind, self.actor_name, request_id, address, browser)


@frozen
class NewToken:
    """A token to hand to a script. It is shown once and kept nowhere."""

    id: int
    user: str
    name: str
    role: str
    token: str
    expires_ms: int


def make_token(
    db: Database,
    holder: Holder,
    name: str,
    role: str,
    days: int,
    actor: Actor,
    now_ms: int,
    *,
    user: str = "",
) -> NewToken:
    """Make a token of a person, of a role at most his own.

    user: whose, where this machine's administrator asks. Raises FormatError, ConflictError (the
    name is taken, too many), ForbiddenError (a token asks, a stronger role), NotFoundError.
    """
    _check(holder, name, role, days)
    owner = user if holder.kind == "local" else holder.name
    if holder.kind != "local" and user not in ("", owner):
        raise ForbiddenError("people.token_of_another_user", user=user[:64])
    if not owner:
        raise FormatError("people.token_user_missing")
    token = PREFIX + new_key()
    expires_ms = now_ms + days * DAY_MS
    with db.write() as tx:
        row = user_named(tx, owner)
        if row.disabled_ms is not None:
            raise ForbiddenError("people.token_of_disabled_user", user=owner)
        if ROLES.index(role) > ROLES.index(row.role):
            raise ForbiddenError(
                "people.token_role", role=role, user=owner, user_role=row.role
            ).about("role")
        live = [
            one
            for one in api_tokens.all_tokens(tx, owner)
            if one.revoked_ms is None and one.expires_ms > now_ms
        ]
        if any(one.name == name for one in live):
            raise ConflictError("people.token_exists", token=name, user=owner).about("name")
        if len(live) >= MOST_LIVE:
            raise ConflictError("people.tokens_too_many", user=owner, count=len(live))
        number = api_tokens.add(tx, row.id, name, hash_of_key(token), role, now_ms, expires_ms)
        note(tx, now_ms, actor, "token.create", owner, token=name, role=role, days=days)
    return NewToken(number, owner, name, role, token, expires_ms)


def list_tokens(db: Database, holder: Holder) -> list[TokenRow]:
    """Return the caller's tokens, newest first; to an administrator those of all users."""
    with db.read() as tx:
        return api_tokens.all_tokens(tx, None if holder.role == "admin" else holder.name)


def revoke_token(db: Database, holder: Holder, number: int, actor: Actor, now_ms: int) -> None:
    """End a token: one's own, or any where an administrator asks. Again changes nothing.

    Raises NotFoundError, also where it belongs to another user.
    """
    with db.write() as tx:
        row = api_tokens.by_id(tx, number)
        if row is None or (holder.role != "admin" and row.user != holder.name):
            raise NotFoundError("people.token_unknown", number=number, see="tokens")
        if api_tokens.revoke(tx, number, now_ms):
            note(tx, now_ms, actor, "token.revoke", row.user, token=row.name)


def holder_of(db: Database, token_hash: str, now_ms: int) -> Holder:
    """Return whose token this is and what it may now. Raises UnknownKeyError, ForbiddenError."""
    with db.read() as tx:
        row = api_tokens.by_hash(tx, token_hash)
    if row is None:
        raise UnknownKeyError("people.token_wrong")
    if row.revoked_ms is not None:
        raise UnknownKeyError("people.token_revoked", token=row.name)
    if now_ms >= row.expires_ms:
        raise UnknownKeyError("people.token_expired", token=row.name)
    if row.disabled_ms is not None:
        raise ForbiddenError("people.token_disabled", token=row.name, user=row.user)
    if row.last_used_ms is None or now_ms - row.last_used_ms >= USE_MS:
        with db.write() as tx:
            api_tokens.note_use(tx, row.id, now_ms)
    role = min(row.role, row.user_role, key=ROLES.index)
    return Holder("user", row.user, role, row.name)


def _check(holder: Holder, name: str, role: str, days: int) -> None:
    if holder.token:
        raise ForbiddenError("people.token_creates_no_token", token=holder.token)
    if not _NAME.fullmatch(name):
        raise FormatError("people.token_bad_name", name=name[:80]).about("name")
    with about_field("role"):
        check_choice("role", role, ROLES)
    if not 1 <= days <= MOST_DAYS:
        raise FormatError("people.token_days", days=days, most=MOST_DAYS).about("days")
