"""Third parties, their tokens, and what they took of each day."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.tables import client_tokens, client_usage, clients
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of

__all__ = [
    "ClientRow",
    "NewToken",
    "TokenRow",
    "UsageRow",
    "add_client",
    "add_token",
    "add_usage",
    "all_clients",
    "client_by_id",
    "client_by_name",
    "revoke",
    "set_disabled",
    "token_by_hash",
    "token_by_id",
    "tokens_of",
    "usage_of_day",
    "usage_since",
]


@frozen
class ClientRow:
    """A third party."""

    id: int
    name: str
    contact: str
    purpose: str
    registered_by: str
    registered_ms: int
    disabled_ms: int | None


@frozen
class NewToken:
    """A token to keep, without its hash."""

    client_id: int
    scopes: str
    daily_bytes: int
    requests_per_minute: int
    issued_by: str
    issued_ms: int
    expires_ms: int


@frozen
class TokenRow(NewToken):
    """An issued token, without its hash."""

    id: int
    revoked_ms: int | None
    last_used_ms: int | None


@frozen
class UsageRow:
    """Bytes that a token took on a day since 1970."""

    token_id: int
    day: int
    requests: int
    bytes: int


def add_client(
    tx: Transaction, name: str, contact: str, purpose: str, by: str, now_ms: int
) -> ClientRow:
    """Register a third party."""
    row = {"name": name, "contact": contact, "purpose": purpose}
    number = tx.add(clients, **row, registered_by=by, registered_ms=now_ms)
    return ClientRow(number, name, contact, purpose, by, now_ms, None)


def client_by_name(tx: Transaction, name: str) -> ClientRow | None:
    """Return the third party of this name."""
    return tx.row(ClientRow, sa.select(clients).where(clients.c.name == name))


def client_by_id(tx: Transaction, client_id: int) -> ClientRow | None:
    """Return the third party of this number."""
    return tx.row(ClientRow, sa.select(clients).where(clients.c.id == client_id))


def all_clients(tx: Transaction) -> list[ClientRow]:
    """Return all third parties by name."""
    return tx.rows(ClientRow, sa.select(clients).order_by(clients.c.name))


def set_disabled(tx: Transaction, client_id: int, now_ms: int | None) -> None:
    """Disable a third party, or enable it again."""
    tx.execute(clients.update().where(clients.c.id == client_id).values(disabled_ms=now_ms))


def add_token(tx: Transaction, token: NewToken, token_hash: str) -> int:
    """Keep a token; return its number."""
    return tx.add(client_tokens, **values_of(token), token_hash=token_hash)


def token_by_hash(tx: Transaction, token_hash: str) -> TokenRow | None:
    """Return the token with this hash."""
    query = sa.select(client_tokens).where(client_tokens.c.token_hash == token_hash)
    return tx.row(TokenRow, query)


def token_by_id(tx: Transaction, token_id: int) -> TokenRow | None:
    """Return the token of this number."""
    return tx.row(TokenRow, sa.select(client_tokens).where(client_tokens.c.id == token_id))


def tokens_of(tx: Transaction, client_id: int) -> list[TokenRow]:
    """Return the tokens of a third party, newest first."""
    query = sa.select(client_tokens).where(client_tokens.c.client_id == client_id)
    return tx.rows(TokenRow, query.order_by(client_tokens.c.id.desc()))


def revoke(tx: Transaction, token_id: int, now_ms: int) -> None:
    """End a token."""
    live = client_tokens.c.id == token_id, client_tokens.c.revoked_ms.is_(None)
    tx.execute(client_tokens.update().where(*live).values(revoked_ms=now_ms))


def add_usage(tx: Transaction, rows: Sequence[UsageRow], now_ms: int) -> None:
    """Add to what tokens took."""
    usage = [values_of(row) for row in rows]
    tx.upsert(client_usage, usage, ["token_id", "day"], add=["requests", "bytes"])
    used = client_tokens.c.id.in_({row.token_id for row in rows})
    tx.execute(client_tokens.update().where(used).values(last_used_ms=now_ms))


def usage_of_day(tx: Transaction, token_id: int, day: int) -> int:
    """Return the bytes that a token took on a day."""
    mine = client_usage.c.token_id == token_id
    found = tx.value(sa.select(client_usage.c.bytes).where(mine, client_usage.c.day == day))
    return int(found or 0)


def usage_since(tx: Transaction, client_id: int, day: int) -> list[UsageRow]:
    """Return what the tokens of a third party took since a day, oldest first."""
    c = client_usage.c
    query = sa.select(client_usage).join(client_tokens, client_tokens.c.id == c.token_id)
    late = query.where(client_tokens.c.client_id == client_id, c.day >= day)
    return tx.rows(UsageRow, late.order_by(c.day, c.token_id))
