"""Enrolment of agents: join tokens, keys, and changes of keys.

The administrator issues a join token bound to a name; the agent makes its own key and sends the
token with the key's hash. Invariants: a token is consumed by one atomic update; the same token
with the same hash succeeds again, because the answer may have been lost; with another hash it is
refused and an alert is written. Neither token nor key is kept, only their SHA-256.
An agent that joins again with a new key gets no permit until the permit of its old key is over:
the machine that held it may still be fetching.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from typing import Final, Literal

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.identity import join_tokens
from manager.db.identity.join_tokens import JoinTokenRow
from manager.db.people import audit_log
from manager.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PrsmError,
    UnknownKeyError,
)
from manager.operations.actor import Actor, note
from manager.operations.identity.agent_positions import place
from shared.errors import FormatError, about_field
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.names import check_agent_name, hash_of_key
from shared.wire.positions import Position

__all__ = [
    "AgentIdentity",
    "AgentKind",
    "Enrolled",
    "JoinToken",
    "agent_named",
    "authenticate",
    "enrol",
    "identity_by_id",
    "issue_join_token",
    "knows_agents",
    "replace_key",
    "revoke_join_token",
]

AgentKind = Literal["sync", "plain"]

JOIN_TOKEN_S: Final = 72 * 3600  # a partner installs within a long week-end
REVOKED: Final = "agent.revoke-token"
_KEY_HASH: Final = re.compile(r"[0-9a-f]{64}")


@frozen
class JoinToken:
    """A token to hand to a partner. It is shown once and kept nowhere."""

    agent: str
    token: str
    expires_ms: int


@frozen
class AgentIdentity:
    """The agent that a key belongs to. Made by `authenticate`; the other operations take it.

    A retired agent is known, so that it can be told why; what it still sends is kept as data.
    """

    id: int
    name: str
    kind: AgentKind
    retired: bool = False

    @property
    def actor(self) -> Actor:
        """Return the agent as the actor, for the audit."""
        return Actor("agent", self.name)


@frozen
class Enrolled:
    """repeated: the same token and key were already accepted; nothing was changed."""

    agent: AgentIdentity
    repeated: bool


def issue_join_token(
    db: Database, name: str, actor: Actor, now_ms: int, valid_s: float = JOIN_TOKEN_S
) -> JoinToken:
    """Make a one-time token bound to an agent name; it replaces an unused one of that name.

    Raises FormatError for a name that is none. For an agent that exists it is the way to a new key.
    """
    with about_field("name"):
        check_agent_name(name)
    token = secrets.token_urlsafe(32)
    expires_ms = now_ms + round(valid_s * 1000)
    with db.write() as tx:
        join_tokens.add(tx, hash_of_key(token), name, actor.name, now_ms, expires_ms)
        note(tx, now_ms, actor, "agent.create-token", name, expires_ms=expires_ms)
    return JoinToken(name, token, expires_ms)


def revoke_join_token(db: Database, name: str, actor: Actor, now_ms: int) -> None:
    """End the unused token of a name: its holder can no longer join with it.

    Raises NotFoundError where none waits. An agent that joined already has its own key instead: see
    `agents.retire`.
    """
    with db.write() as tx:
        if not join_tokens.expire(tx, now_ms, name):
            raise NotFoundError("identity.no_join_token", agent=name[:64], see="agents tokens")
        note(tx, now_ms, actor, REVOKED, name)


def enrol(
    db: Database,
    name: str,
    token: str,
    key_hash: str,
    now_ms: int,
    kind: AgentKind = "sync",
    position: Position | None = None,
    address: str = "",
) -> Enrolled:
    """Enrol an agent: consume the token, keep the hash of the agent's own key.

    position: where its site says it is; None: it does not say, and the known position stays.
    address: from which it joins, for the audit.
    Raises FormatError (name or hash malformed), UnknownKeyError (no such token for this name),
    ForbiddenError (expired or revoked), ConflictError (used with another key; key in use).
    """
    check_agent_name(name)
    _check_key_hash(key_hash)
    refusal: PrsmError
    with db.write() as tx:
        token_hash = hash_of_key(token)
        holder = agents.by_key(tx, key_hash)
        if holder is not None and holder.name != name:
            raise ConflictError("identity.key_of_agent", agent=holder.name)
        if join_tokens.consume(tx, token_hash, name, key_hash, now_ms):
            joined = _join(tx, name, kind, key_hash, now_ms, address)
            if position is not None:
                place(tx, joined.id, name, position, joined.actor, now_ms)
            return Enrolled(joined, repeated=False)
        known = join_tokens.by_hash(tx, token_hash)
        if known is None or known.agent != name:
            refusal = UnknownKeyError("identity.join_token_unknown", agent=name)
        elif known.consumed_ms is None:
            refusal = ForbiddenError(_end_of_token(tx, known))
        elif known.consumed_key_hash == key_hash and holder is not None:
            return Enrolled(_identity(holder), repeated=True)
        else:
            who = Actor("agent", name, "", address)
            note(tx, now_ms, who, "agent.reuse-token", name, alert=True)
            refusal = ConflictError("identity.join_token_reused", agent=name)
    raise refusal


def _end_of_token(tx: Transaction, token: JoinTokenRow) -> Message:
    """Return the end of an unused token: revoked by a person (see the audit), or expired."""
    last = audit_log.newest(tx, limit=1, action=REVOKED, subject=token.agent)
    # A token ends at the moment at which it is revoked, and only the newest of a name is kept.
    if last and last[0].at_ms == token.expires_ms:
        return Message(
            "identity.join_token_revoked",
            agent=token.agent,
            at_ms=token.expires_ms,
            by=last[0].actor_name,
        )
    return Message("identity.join_token_expired", agent=token.agent, at_ms=token.expires_ms)


def _join(
    tx: Transaction, name: str, kind: AgentKind, key_hash: str, now_ms: int, address: str
) -> AgentIdentity:
    before = agents.by_name(tx, name)
    if before is None:
        agent_id = agents.add(tx, name, kind, key_hash, now_ms)
    else:
        agent_id = before.id
        agents.update(
            tx,
            agent_id,
            kind=kind,
            key_hash=key_hash,
            joined_ms=now_ms,
            subscribed=True,
            retired_ms=None,
            # Not `lost_ms`: its work comes back with its first contact.
            boot_id="",
            sequence=0,
            clone_reason="",
            # The tick knows when the old permit is over: it also knows of clocks that jumped.
            rejoined=before.permit_until_ms > 0,
            permit_epoch=before.permit_epoch + 1,
            # The program that joins now may be another one.
            says_finished=False,
            **({} if before.kind == kind == "sync" else agents.SAID_NOTHING),
        )
    note(
        tx,
        now_ms,
        Actor("agent", name, "", address),
        "agent.enrol",
        name,
        agent_kind=kind,
        again=before is not None,
    )
    return AgentIdentity(agent_id, name, kind)


def identity_by_id(db: Database, agent_id: int) -> AgentIdentity:
    """Return the agent with this number. Raises ForbiddenError if it no longer exists."""
    with db.read() as tx:
        row = agents.by_id(tx, agent_id)
    if row is None:
        raise ForbiddenError("identity.unknown_agent_number", number=agent_id)
    return _identity(row)


def agent_named(tx: Transaction, name: str, see: str = "agents") -> AgentRow:
    """Return the agent of a name. see: the command that lists agents. Raises NotFoundError."""
    row = agents.by_name(tx, name)
    if row is None:
        raise NotFoundError("general.unknown_agent", agent=name[:253], see=see)
    return row


def knows_agents(db: Database) -> bool:
    """Return whether any agent ever joined."""
    with db.read() as tx:
        return agents.any_agent(tx)


def authenticate(db: Database, key_hashes: Collection[str]) -> dict[str, AgentIdentity]:
    """Return the agents whose keys have these hashes (`shared.wire.names.hash_of_key`).

    A hash that is no agent's is left out.
    """
    with db.read() as tx:
        rows = agents.by_keys(tx, key_hashes)
        return {row.key_hash: _identity(row) for row in rows if row.key_hash is not None}


def replace_key(db: Database, agent: AgentIdentity, new_key_hash: str, now_ms: int) -> None:
    """Give an agent that has just shown its old key a new one; a repeat changes nothing.

    Raises ConflictError where another agent has that key.
    """
    _check_key_hash(new_key_hash)
    with db.write() as tx:
        holder = agents.by_key(tx, new_key_hash)
        if holder is not None and holder.id != agent.id:
            raise ConflictError("identity.key_of_another_agent")
        if holder is None:
            agents.update(tx, agent.id, key_hash=new_key_hash)
            note(tx, now_ms, agent.actor, "agent.change-key", agent.name)


def _identity(row: AgentRow) -> AgentIdentity:
    kind: AgentKind = "plain" if row.is_plain else "sync"
    return AgentIdentity(row.id, row.name, kind, row.retired_ms is not None)


def _check_key_hash(key_hash: str) -> None:
    if not _KEY_HASH.fullmatch(key_hash):
        raise FormatError("identity.key_hash")
