"""Refusals of syncs, and the data that is kept of refused ones.

Invariant: a refused sync is no contact: nothing that it says is taken. That it came from a clone,
or from a version that is too old, is written down for people.
"""

from __future__ import annotations

from typing import Final

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.errors import (
    CloneError,
    ConflictError,
    ForbiddenError,
    PlainAgentError,
    PrsmError,
    TooOldError,
    UnknownKeyError,
)
from manager.operations.actor import note
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.releases.rollouts import too_old
from shared.messages import Message
from shared.wire.sync import SyncRequest

__all__ = ["refusal_of"]

LONGEST_LEAP: Final = 1_000_000
"""An agent that holds a newer list than was ever made has outlived a restored database; its
number is passed over, but no number is so far away by accident."""


def refusal_of(
    tx: Transaction,
    agent: AgentIdentity,
    row: AgentRow | None,
    request: SyncRequest,
    key_hash: str | None,
    minimum: str,
    now_ms: int,
) -> PrsmError | None:
    """Return why an agent is not answered, or None.

    key_hash: of the presented key, if its owner was not looked up in this transaction yet.
    minimum: the oldest version that gets work; empty: any.
    """
    if row is not None and key_hash is not None and row.key_hash != key_hash:
        return UnknownKeyError("fleet.key_replaced")
    if request.agent != agent.name or row is None:
        return ForbiddenError("fleet.name_of_other_agent", agent=agent.name, name=request.agent)
    if row.is_plain:
        return PlainAgentError("fleet.plain_does_not_sync", name=agent.name)
    if row.retired_ms is not None:
        return ForbiddenError("fleet.retired_gets_no_work", name=agent.name)
    return _outdated(tx, row, request, minimum) or _contradicted(tx, row, request, now_ms)


def _outdated(
    tx: Transaction, row: AgentRow, request: SyncRequest, minimum: str
) -> PrsmError | None:
    """Refuse a version below the minimum: that is no contact, so its units go to others in time.

    Reports and captures of it are taken all the same: they do not come by sync.
    """
    if not too_old(minimum, request.version):
        return None
    agents.update(tx, row.id, version=request.version)
    return TooOldError("fleet.version_too_old", version=request.version, minimum=minimum)


def _contradicted(
    tx: Transaction, row: AgentRow, request: SyncRequest, now_ms: int
) -> PrsmError | None:
    if request.generation_held > row.generation + LONGEST_LEAP:
        return ConflictError(
            "fleet.generation_ahead", held=request.generation_held, newest=row.generation
        )
    if not row.boot_id or request.sequence > row.sequence:
        return None
    if request.boot_id == row.boot_id:
        if request.sequence == row.sequence:
            return None
        return ConflictError(
            "fleet.sequence_answered", sequence=request.sequence, answered=row.sequence
        )
    reason = Message(
        "fleet.clone_sequence",
        sequence=request.sequence,
        process=request.boot_id,
        before=row.sequence,
        other=row.boot_id,
    )
    if row.clone_reason != reason:
        agents.update(tx, row.id, clone_reason=reason)
        note(
            tx,
            now_ms,
            AgentIdentity(row.id, row.name, "sync").actor,
            "agent.detect-clone",
            row.name,
            alert=True,
            reason=reason,
        )
    return CloneError("fleet.clone", name=row.name, why=reason)
