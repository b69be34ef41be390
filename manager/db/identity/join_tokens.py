"""Join tokens: given out once, consumed once."""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import join_tokens
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["JoinTokenRow", "add", "by_hash", "consume", "expire", "waiting"]


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
    row = {"token_hash": token_hash, "agent": agent, "issued_by": issued_by}
    tx.insert(join_tokens, [{**row, "issued_ms": now_ms, "expires_ms": expires_ms}])


def consume(tx: Transaction, token_hash: str, agent: str, key_hash: str, now_ms: int) -> bool:
    """Use a token up, atomically; False where there is none that may still be used."""
    named = join_tokens.c.token_hash == token_hash, join_tokens.c.agent == agent
    using = join_tokens.update().where(*named, *_unused(now_ms))
    return tx.changed(using.values(consumed_ms=now_ms, consumed_key_hash=key_hash)) == 1


def by_hash(tx: Transaction, token_hash: str) -> JoinTokenRow | None:
    """Return the token with this hash."""
    query = sa.select(join_tokens).where(join_tokens.c.token_hash == token_hash)
    return tx.row(JoinTokenRow, query)


def expire(tx: Transaction, now_ms: int, agent: str | None = None) -> bool:
    """End the tokens that were not used, of a name or all; False where there is none."""
    ending = join_tokens.update().where(*_unused(now_ms)).values(expires_ms=now_ms)
    return tx.changed(ending if agent is None else ending.where(join_tokens.c.agent == agent)) > 0


def waiting(tx: Transaction, now_ms: int) -> list[JoinTokenRow]:
    """Return the tokens that may still be used, by name."""
    query = sa.select(join_tokens).where(*_unused(now_ms))
    return tx.rows(JoinTokenRow, query.order_by(join_tokens.c.agent))


def _unused(now_ms: int) -> tuple[sa.ColumnElement[bool], ...]:
    return join_tokens.c.consumed_ms.is_(None), join_tokens.c.expires_ms > now_ms
