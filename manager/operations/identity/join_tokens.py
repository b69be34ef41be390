"""Status of a join token, for an administrator waiting for the partner to join."""

from __future__ import annotations

from typing import Literal

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.identity import join_tokens
from shared.frozen import frozen
from shared.wire.names import check_agent_name

__all__ = ["JoinTokenStatus", "JoiningState", "join_token_status"]

JoiningState = Literal["waiting", "joined", "expired", "void"]


@frozen
class JoinTokenStatus:
    """agent: the name that the token is bound to. token_hash: which token, by its SHA-256.

    waiting: it is unused, and valid until expires_ms. joined: it was used at joined_ms; called_ms
    is the agent's last contact, None before its first since then. void: no token of this name has
    this hash now, because another one was made.
    """

    agent: str
    token_hash: str
    state: JoiningState
    expires_ms: int | None = None
    joined_ms: int | None = None
    called_ms: int | None = None
    is_plain: bool = False


def join_token_status(db: Database, name: str, token_hash: str, now_ms: int) -> JoinTokenStatus:
    """Return the status of a token for an agent. Raises FormatError for an invalid name."""
    check_agent_name(name)
    with db.read() as tx:
        token = join_tokens.by_hash(tx, token_hash)
        row = agents.by_name(tx, name)
    if token is None or token.agent != name:
        return JoinTokenStatus(name, token_hash, "void")
    if token.consumed_ms is None:
        state: JoiningState = "waiting" if token.expires_ms > now_ms else "expired"
        return JoinTokenStatus(name, token_hash, state, token.expires_ms)
    called_ms = row.last_contact_ms if row is not None else None
    if called_ms is not None and called_ms < token.consumed_ms:
        called_ms = None  # by its key before
    is_plain = row is not None and row.is_plain
    return JoinTokenStatus(
        name, token_hash, "joined", token.expires_ms, token.consumed_ms, called_ms, is_plain
    )
