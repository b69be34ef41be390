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

    key_hash: of the key that was shown, where nobody has looked in this transaction whose it is.
    minimum: the oldest version that gets work; empty: any.
    """
    if row is not None and key_hash is not None and row.key_hash != key_hash:
        return UnknownKeyError("unknown key: it was replaced; join with a new token")
    if request.agent != agent.name or row is None:
        return ForbiddenError(f"this key is that of agent {agent.name}, not {request.agent}")
    if row.is_plain:
        return PlainAgentError(
            f"agent {agent.name} joined as a plain agent, which speaks the five messages and does "
            'not sync; to sync, let it join again with a new token and kind "sync"'
        )
    if row.retired_ms is not None:
        return ForbiddenError(f"agent {agent.name} was retired: it gets no work any more")
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
    return TooOldError(
        f"version {request.version}: agents below {minimum} get no work any more; run "
        "`prs update`. What was fetched is still taken"
    )


def _contradicted(
    tx: Transaction, row: AgentRow, request: SyncRequest, now_ms: int
) -> PrsmError | None:
    if request.generation_held > row.generation + LONGEST_LEAP:
        return ConflictError(
            f"generation_held = {request.generation_held}: the newest list is {row.generation}"
        )
    if not row.boot_id or request.sequence > row.sequence:
        return None
    if request.boot_id == row.boot_id:
        if request.sequence == row.sequence:
            return None
        return ConflictError(
            f"sequence {request.sequence}: {row.sequence} of the same process was answered already"
        )
    reason = (
        f"sequence {request.sequence} came from process {request.boot_id} after {row.sequence}"
        f" from process {row.boot_id}"
    )
    if row.clone_reason != reason:
        agents.update(tx, row.id, clone_ms=now_ms, clone_reason=reason)
        note(
            tx,
            now_ms,
            AgentIdentity(row.id, row.name, "sync").actor,
            "agent.clone",
            row.name,
            alert=True,
            reason=reason,
        )
    return CloneError(
        f"agent {row.name}: {reason}. Two machines have this key, or a disk was restored: stop "
        "one of them, and let the other join again with a new token"
    )
