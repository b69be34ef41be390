"""Join tokens: given out once, consumed once."""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import join_tokens
from shared.frozen import frozen

__all__ = ["JoinTokenRow", "add", "by_hash", "consume", "expire", "expire_all", "waiting"]


@frozen
class JoinTokenRow:
    """A token's hash, the name it is bound to, and its use or end."""

    id: int
    token_hash: str
    agent: str
    issued_by: str
    issued_ms: int
    expires_ms: int
    consumed_ms: int | None
    consumed_key_hash: str | None


def add(
    tx: Transaction, token_hash: str, agent: str, issued_by: str, now_ms: int, expires_ms: int
) -> None:
    """Keep a new token; those issued before for the same name and not used are void."""
    unused = sa.and_(join_tokens.c.agent == agent, join_tokens.c.consumed_ms.is_(None))
    tx.execute(join_tokens.delete().where(unused))
    row = {
        "token_hash": token_hash,
        "agent": agent,
        "issued_by": issued_by,
        "issued_ms": now_ms,
        "expires_ms": expires_ms,
    }
    tx.insert(join_tokens, [row])


def consume(tx: Transaction, token_hash: str, agent: str, key_hash: str, now_ms: int) -> bool:
    """Use a token up, atomically; False where there is none that may still be used."""
    return (
        tx.changed(
            join_tokens.update()
            .where(
                join_tokens.c.token_hash == token_hash,
                join_tokens.c.agent == agent,
                join_tokens.c.consumed_ms.is_(None),
                join_tokens.c.expires_ms > now_ms,
            )
            .values(consumed_ms=now_ms, consumed_key_hash=key_hash)
        )
        == 1
    )


def by_hash(tx: Transaction, token_hash: str) -> JoinTokenRow | None:
    """Return the token with this hash."""
    return tx.row(
        JoinTokenRow, sa.select(join_tokens).where(join_tokens.c.token_hash == token_hash)
    )


def expire(tx: Transaction, agent: str, now_ms: int) -> bool:
    """End the token of a name that waits to be used; False where there is none."""
    waits = (
        join_tokens.c.agent == agent,
        join_tokens.c.consumed_ms.is_(None),
        join_tokens.c.expires_ms > now_ms,
    )
    return tx.changed(join_tokens.update().where(*waits).values(expires_ms=now_ms)) > 0


def expire_all(tx: Transaction, now_ms: int) -> None:
    """End all tokens that were not used."""
    unused = join_tokens.c.consumed_ms.is_(None), join_tokens.c.expires_ms > now_ms
    tx.execute(join_tokens.update().where(*unused).values(expires_ms=now_ms))


def waiting(tx: Transaction, now_ms: int) -> list[JoinTokenRow]:
    """Return the tokens that may still be used, by name."""
    return tx.rows(
        JoinTokenRow,
        sa.select(join_tokens)
        .where(join_tokens.c.consumed_ms.is_(None), join_tokens.c.expires_ms > now_ms)
        .order_by(join_tokens.c.agent),
    )
