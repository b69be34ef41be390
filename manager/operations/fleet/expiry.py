"""First steps of the tick: move deadlines with the clock, free expired permits and probes.

Invariant: nothing but `expire_permits` ends a permit because of time, and it is never called before
`follow_clock` in the same tick: a manager that was away, or a clock that jumped, ends no agent's
work (`manager.assignment.permits`).
"""

from __future__ import annotations

from manager.assignment.permits import Permit, extension_ms, handover_ms
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.ownership import rights
from manager.db.planning import probes
from manager.db.rounds import rounds, tick_clock
from manager.operations.actor import CLOCK, note
from manager.operations.ownership.grants import may_receive
from manager.operations.ownership.permits import end_permit
from manager.operations.policy import Policy
from shared.messages import Message

__all__ = ["expire_permits", "follow_clock", "give_up_probes"]


def follow_clock(db: Database, now_ms: int, policy: Policy, epoch: int = 0) -> int:
    """Note the tick, and move permits and promises by a gap since the last; return the gap's ms.

    epoch: of the leader whose tick this is.
    """
    longest_ms = round(policy.max_tick_gap_s * 1000)
    with db.write() as tx:
        before_ms = tick_clock.last_tick(tx)
        by_ms = 0
        if before_ms is not None and tick_clock.last_epoch(tx) == epoch:
            by_ms = extension_ms(before_ms, now_ms, longest_ms)
        elif before_ms is not None:
            by_ms = handover_ms(before_ms, now_ms)
        if by_ms:
            tick_clock.move_deadlines(tx, by_ms)
        if abs(by_ms) > longest_ms:
            note(tx, now_ms, CLOCK, "clock.jump", "", alert=by_ms < 0, moved_ms=by_ms)
        tick_clock.set_last_tick(tx, now_ms, epoch)
    return by_ms


def expire_permits(db: Database, now_ms: int) -> int:
    """Free the rights of agents whose permit is over and fence their lists off; return how many."""
    with db.read() as tx:
        over = agents.out_of_permit(tx, now_ms)
    freed = 0
    for candidate in over:
        with db.write() as tx:
            row = agents.by_id(tx, candidate.id)
            # It may have called since.
            if row is None or not _is_over(row, now_ms):
                continue
            permit_over = Message("ownership.permit_over")
            count = rights.free(tx, now_ms, permit_over, agent_id=row.id)
            end_permit(tx, row)
            freed += count
            if count:
                note(tx, now_ms, CLOCK, "permit.expire", row.name, rights=count)
    return freed


def _is_over(row: AgentRow, now_ms: int) -> bool:
    permit = Permit(row.permit_epoch, row.permit_until_ms, row.fence_generation)
    return row.permit_until_ms > 0 and permit.is_over(now_ms)


def give_up_probes(db: Database, now_ms: int, policy: Policy) -> int:
    """Give up probes that take too long, and those of agents that are away too long or gone.

    A distance that is missing is assumed later; a round that never ends is of no use.
    """
    with db.read() as tx:
        busy = list(agents.by_ids(tx, probes.agents_with_open(tx)).values())
        late = {row.id: _late_probes(policy, row, now_ms) for row in busy}
    given_up = 0
    for row in busy:
        with db.write() as tx:
            if not row.takes_part:
                given_up += probes.fail(
                    tx,
                    Message("planning.agent_not_taking_part"),
                    agent_id=row.id,
                    states=["waiting"],
                )
            elif not may_receive(row, now_ms):
                last = rounds.last_number(tx)
                given_up += probes.overdue_waiting(tx, row.id, late[row.id], last)
            units = probes.overdue(tx, row.id, late[row.id], policy.tick_batch_rows)
            if units:
                too_slow = Message("planning.too_slow")
                given_up += probes.fail(
                    tx, too_slow, agent_id=row.id, unit_ids=units, states=["granted"]
                )
                rights.withdraw(tx, now_ms, too_slow, unit_ids=units, agent_id=row.id)
    return given_up


def _late_probes(policy: Policy, row: AgentRow, now_ms: int) -> int:
    timeout_s = policy.plain_probe_timeout_s if row.is_plain else policy.probe_timeout_s
    return now_ms - round(timeout_s * 1000)
