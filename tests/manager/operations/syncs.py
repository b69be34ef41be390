"""One sync of one agent, as the tests of its effects make it."""

from __future__ import annotations

from manager.db.engine import Database
from manager.errors import PrsmError
from manager.operations.fleet.sync import Asked, sync_all
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.wire.sync import SyncAnswer, SyncRequest

__all__ = ["sync"]


def sync(
    db: Database,
    agent: AgentIdentity,
    request: SyncRequest,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> SyncAnswer:
    """Record the state that an agent reports and return its orders. Raises its refusal."""
    (outcome,) = sync_all(db, [Asked(agent, request)], now_ms, policy)
    if isinstance(outcome, PrsmError):
        raise outcome
    return outcome
