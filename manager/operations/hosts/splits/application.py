"""Application of proposals to split and to merge hosts, by a person or by the setting.

Invariant: each is the operation that a person could ask for by itself, with its own audit row. For
a host that is being crawled it is ordered (`orders`); what cannot be done is refused by a reason.
"""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.rounds import rounds
from manager.errors import ConflictError
from manager.message_fields import message_fields
from manager.operations.actor import CLOCK, Actor
from manager.operations.hosts.idle_hosts import host_named
from manager.operations.hosts.splits.orders import BUSY, change_host, order_change
from manager.operations.hosts.splits.proposals import SplitProposal, propose_splits
from manager.operations.policy import Policy
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["RefusedHost", "SplitsApplied", "apply_by_setting", "apply_proposals"]


@message_fields
@frozen
class RefusedHost:
    """A host that could not be split or merged now, with the reason."""

    host: str
    reason: Message


@frozen
class SplitsApplied:
    """Hosts that were split, that were merged, that will be when their crawl is over, and that
    cannot be."""

    split: list[str]
    merged: list[str]
    ordered: list[str]
    refused: list[RefusedHost]


def apply_proposals(
    db: Database, actor: Actor, now_ms: int, policy: Policy, host: str = ""
) -> SplitsApplied:
    """Apply the proposal of one host, or all (host: empty), in their order.

    What is being crawled now is changed when its crawl is over. Raises NotFoundError, UrlError,
    ConflictError where nothing is proposed for the host, or it cannot be changed.
    """
    with db.read() as tx:
        key = host_named(tx, host).key if host else ""
        proposals = propose_splits(tx, policy, now_ms).proposals
    if key:
        proposals = [one for one in proposals if one.host == key]
        if not proposals:
            raise ConflictError("hosts.no_split_proposal", host=key)
    applied = _apply(db, proposals, actor, now_ms, policy)
    if host and applied.refused:
        [one] = applied.refused
        raise ConflictError(one.reason.code, **one.reason.params)
    return applied


def apply_by_setting(db: Database, now_ms: int, policy: Policy) -> int:
    """Apply what is proposed where the setting is `apply`; return how many hosts that were.

    Hosts that a person split or merged, or the setting lately, are not changed.
    """
    if policy.splits != "apply":
        return 0
    with db.read() as tx:
        newest = rounds.last_number(tx)
        proposals = propose_splits(tx, policy, now_ms).proposals
    due = [
        one
        for one in proposals
        if not one.is_personal and not one.is_ordered and one.from_round <= newest
    ]
    applied = _apply(db, due, CLOCK, now_ms, policy)
    return len(applied.split) + len(applied.merged)


def _apply(
    db: Database, proposals: list[SplitProposal], actor: Actor, now_ms: int, policy: Policy
) -> SplitsApplied:
    applied = SplitsApplied([], [], [], [])
    for one in proposals:
        try:
            change_host(db, one.host, one.action, actor, now_ms, policy, one.pieces, one.interval_s)
            (applied.merged if one.action == "merge" else applied.split).append(one.host)
        except ConflictError as error:
            if error.message.code not in BUSY:
                applied.refused.append(RefusedHost(one.host, error.message))
                continue
            order_change(db, one.host, one.action, actor, now_ms, one.pieces, one.interval_s or 0.0)
            applied.ordered.append(one.host)
    return applied
