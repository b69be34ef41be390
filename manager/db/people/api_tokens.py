"""Tokens of people's scripts; only their hashes are kept."""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import api_tokens, users
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "HeldToken",
    "TokenRow",
    "add",
    "all_tokens",
    "by_hash",
    "by_id",
    "live_of",
    "note_use",
    "revoke",
    "revoke_all",
    "revoke_of",
]


@frozen
class TokenRow:
    """A token, and whose. role: at most this. last_used_ms: to the minute."""

    id: int
    user: str
    name: str
    role: str
    created_ms: int
    expires_ms: int
    last_used_ms: int | None
    revoked_ms: int | None


@frozen
class HeldToken:
    """A token as its holder shows it, with what its user may now."""

    id: int
    user_id: int
    user: str
    user_role: str
    name: str
    role: str
    expires_ms: int
    last_used_ms: int | None
    revoked_ms: int | None
    disabled_ms: int | None


def add(
    tx: Transaction,
    user_id: int,
    name: str,
    token_hash: str,
    role: str,
    now_ms: int,
    expires_ms: int,
) -> int:
    """Keep a new token; return its number."""
    allowed = {"role": role, "created_ms": now_ms, "expires_ms": expires_ms}
    return tx.add(api_tokens, user_id=user_id, name=name, token_hash=token_hash, **allowed)


def all_tokens(tx: Transaction, user: str | None = None) -> list[TokenRow]:
    """Return the tokens of everybody or of one user, the newest first."""
    query = _rows().order_by(api_tokens.c.id.desc())
    return tx.rows(TokenRow, query if user is None else query.where(users.c.name == user))


def by_id(tx: Transaction, number: int) -> TokenRow | None:
    """Return the token of this number."""
    return tx.row(TokenRow, _rows().where(api_tokens.c.id == number))


def by_hash(tx: Transaction, token_hash: str) -> HeldToken | None:
    """Return the token with this hash, whether it is still good or not."""
    query = (
        sa.select(
            api_tokens,
            users.c.name.label("user"),
            users.c.role.label("user_role"),
            users.c.disabled_ms,
        )
        .join(users, users.c.id == api_tokens.c.user_id)
        .where(api_tokens.c.token_hash == token_hash)
    )
    return tx.row(HeldToken, query)


def note_use(tx: Transaction, number: int, now_ms: int) -> None:
    """Note when a token was used last."""
    tx.execute(api_tokens.update().where(api_tokens.c.id == number).values(last_used_ms=now_ms))


def revoke(tx: Transaction, number: int, now_ms: int) -> bool:
    """End a token; False where it was ended already."""
    live = api_tokens.c.id == number, api_tokens.c.revoked_ms.is_(None)
    return tx.changed(api_tokens.update().where(*live).values(revoked_ms=now_ms)) > 0


def live_of(tx: Transaction, user_id: int, now_ms: int) -> int:
    """Return how many tokens of a user open something."""
    return tx.count(api_tokens, *_live(user_id, now_ms))


def revoke_of(tx: Transaction, user_id: int, now_ms: int) -> int:
    """End all tokens of a user; return how many opened something."""
    ended = api_tokens.update().where(*_live(user_id, now_ms)).values(revoked_ms=now_ms)
    return tx.changed(ended)


def revoke_all(tx: Transaction, now_ms: int) -> None:
    """End all tokens of everybody."""
    live = api_tokens.c.revoked_ms.is_(None)
    tx.execute(api_tokens.update().where(live).values(revoked_ms=now_ms))


def _live(user_id: int, now_ms: int) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        api_tokens.c.user_id == user_id,
        api_tokens.c.revoked_ms.is_(None),
        api_tokens.c.expires_ms > now_ms,
    )


def _rows() -> sa.Select[tuple[object, ...]]:
    return sa.select(api_tokens, users.c.name.label("user")).join(
        users, users.c.id == api_tokens.c.user_id
    )
