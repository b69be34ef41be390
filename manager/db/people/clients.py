"""Third parties, their tokens, and what they took of each day."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import client_tokens, client_usage, clients
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
    row = {
        "name": name,
        "contact": contact,
        "purpose": purpose,
        "registered_by": by,
        "registered_ms": now_ms,
    }
    number = tx.value(clients.insert().values(**row).returning(clients.c.id))
    return ClientRow(int(number), name, contact, purpose, by, now_ms, None)


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
    made = client_tokens.insert().values(**values_of(token), token_hash=token_hash)
    return int(tx.value(made.returning(client_tokens.c.id)))


def token_by_hash(tx: Transaction, token_hash: str) -> TokenRow | None:
    """Return the token with this hash."""
    return tx.row(
        TokenRow, sa.select(client_tokens).where(client_tokens.c.token_hash == token_hash)
    )


def token_by_id(tx: Transaction, token_id: int) -> TokenRow | None:
    """Return the token of this number."""
    return tx.row(TokenRow, sa.select(client_tokens).where(client_tokens.c.id == token_id))


def tokens_of(tx: Transaction, client_id: int) -> list[TokenRow]:
    """Return the tokens of a third party, newest first."""
    return tx.rows(
        TokenRow,
        sa.select(client_tokens)
        .where(client_tokens.c.client_id == client_id)
        .order_by(client_tokens.c.id.desc()),
    )


def revoke(tx: Transaction, token_id: int, now_ms: int) -> None:
    """End a token."""
    tx.execute(
        client_tokens.update()
        .where(client_tokens.c.id == token_id, client_tokens.c.revoked_ms.is_(None))
        .values(revoked_ms=now_ms)
    )


def add_usage(tx: Transaction, rows: Sequence[UsageRow], now_ms: int) -> None:
    """Add to what tokens took."""
    tx.upsert(
        client_usage,
        [values_of(row) for row in rows],
        ["token_id", "day"],
        add=["requests", "bytes"],
    )
    tx.execute(
        client_tokens.update()
        .where(client_tokens.c.id.in_({row.token_id for row in rows}))
        .values(last_used_ms=now_ms)
    )


def usage_of_day(tx: Transaction, token_id: int, day: int) -> int:
    """Return the bytes that a token took on a day."""
    mine = client_usage.c.token_id == token_id
    found = tx.value(sa.select(client_usage.c.bytes).where(mine, client_usage.c.day == day))
    return int(found or 0)


def usage_since(tx: Transaction, client_id: int, day: int) -> list[UsageRow]:
    """Return what the tokens of a third party took since a day, oldest first."""
    return tx.rows(
        UsageRow,
        sa.select(client_usage)
        .join(client_tokens, client_tokens.c.id == client_usage.c.token_id)
        .where(client_tokens.c.client_id == client_id, client_usage.c.day >= day)
        .order_by(client_usage.c.day, client_usage.c.token_id),
    )
