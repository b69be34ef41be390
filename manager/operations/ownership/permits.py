"""Renew the permit of an agent, or end it.

Invariant: a permit is renewed only for a list that is not older than the fence, and not before the
permit of a key that it replaced is over. The rules are those of `manager.assignment.permits`; who
calls `end_permit` has freed the agent's rights in the same transaction. Of several managers each
has its own clock: what agents do is written down by that of the ticks (`contact_time`, ADR 152).
"""

from __future__ import annotations

from manager.assignment.permits import Permit, manager_time
from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.rounds import tick_clock
from manager.operations.policy import Policy
from shared.wire.sync import Permit as SyncPermit

__all__ = [
    "contact_time",
    "contact_time_after",
    "end_permit",
    "renew_permit",
    "renewed",
]


def contact_time(tx: Transaction, now_ms: int, policy: Policy) -> int:
    """Return when a message came, as ticks count. now_ms: by the clock of the manager it came to.

    Before the first tick of all there is no other.
    """
    return contact_time_after(tick_clock.last_tick(tx), now_ms, policy)


def contact_time_after(last_tick_ms: int | None, now_ms: int, policy: Policy) -> int:
    """Return the same for a last tick that is known."""
    if last_tick_ms is None:
        return now_ms
    return manager_time(now_ms, last_tick_ms, round(policy.max_tick_gap_s * 1000))


def renew_permit(
    tx: Transaction,
    row: AgentRow,
    generation_held: int,
    at_ms: int,
    duration_s: float,
    policy: Policy,
) -> SyncPermit | None:
    """Renew the permit, or return None: not a member, an old list, or another key's not over.

    at_ms: `contact_time` of the message that renews it.
    """
    last_tick_ms = tick_clock.last_tick(tx)
    kept = renewed(
        row,
        generation_held,
        at_ms if last_tick_ms is None else last_tick_ms,
        duration_s,
        policy,
    )
    if kept is None:
        return None
    agents.update(
        tx,
        row.id,
        permit_epoch=kept.epoch,
        permit_set_ms=at_ms,
        permit_until_ms=kept.until_ms,
    )
    return SyncPermit(epoch=kept.epoch, duration_s=duration_s)


def renewed(
    row: AgentRow,
    generation_held: int,
    last_tick_ms: int,
    duration_s: float,
    policy: Policy,
) -> Permit | None:
    """Return the renewed permit for the agent's row, or None, as `renew_permit` does."""
    if not row.subscribed or row.rejoined:
        return None
    kept = Permit(row.permit_epoch, row.permit_until_ms, row.fence_generation)
    # 0: no list is in force there, and the one that it takes next is new.
    held = generation_held or row.fence_generation
    return kept.renew(
        held, last_tick_ms, round(duration_s * 1000), round(policy.max_tick_gap_s * 1000)
    )


def end_permit(tx: Transaction, row: AgentRow) -> None:
    """Write down that an agent's permit is over and its rights are free; its list is fenced off."""
    agents.raise_generation(tx, row.id)
    over = Permit(row.permit_epoch, row.permit_until_ms, row.fence_generation).expire(
        row.generation + 1
    )
    agents.update(
        tx,
        row.id,
        permit_until_ms=0,
        fence_generation=over.fence_generation,
        rejoined=False,
    )
