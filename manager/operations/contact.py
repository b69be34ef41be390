"""What agents say: sync, and the messages of those that speak only the five.

Invariants. A permit is renewed only for a list that is not older than the fence, and not before
the permit of a key it replaced is over (`manager.assignment.permits`). Rights that were withdrawn
are freed when the agent acknowledges a list without them, those of finished units when it says so;
nothing else here frees a right but an agent's own leaving. A request that was answered already
changes nothing when it comes again.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from manager.assignment import Permit, manager_time
from manager.db import agents, clock, hosts, probes, rights, rounds
from manager.db.agents import AgentRow
from manager.db.engine import Database, Transaction
from manager.errors import CloneError, ConflictError, ForbiddenError, PrsmError
from manager.operations.actor import note
from manager.operations.addresses import record_addresses
from manager.operations.enrolment import AgentIdentity
from manager.operations.finishing import Claim, finish_units
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.wire.sync import Command, SyncAnswer, SyncRequest
from shared.wire.sync import Permit as SyncPermit

__all__ = [
    "end_permit",
    "is_restart",
    "note_message",
    "renew_plain",
    "subscribe",
    "sync",
    "unsubscribe",
]

LONGEST_LEAP = 1_000_000
"""An agent that holds a newer list than was ever made has outlived a restored database; its
number is passed over, but no number is so far away by accident."""


def sync(
    db: Database,
    agent: AgentIdentity,
    request: SyncRequest,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> SyncAnswer:
    """Take note of what an agent says of itself and answer what it is to do.

    Raises ForbiddenError (it names another agent; it was retired), CloneError (its sequence runs
    backwards in another process: two machines have its key), ConflictError (an old request came
    late, an impossible generation).
    """
    with db.write() as tx:
        row = agents.by_id(tx, agent.id)
        if request.agent != agent.name or row is None:
            raise ForbiddenError(f"this key is that of agent {agent.name}, not {request.agent}")
        if row.retired_ms is not None:
            raise ForbiddenError(f"agent {agent.name} was retired: it gets no work any more")
        refusal = _refused(tx, row, request, now_ms)
        if refusal is None:
            return _answered(tx, agent, row, request, now_ms, policy)
    # The flag of a clone is kept although the request is refused.
    raise refusal


def _refused(tx: Transaction, row: AgentRow, request: SyncRequest, now_ms: int) -> PrsmError | None:
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


def _answered(
    tx: Transaction,
    agent: AgentIdentity,
    row: AgentRow,
    request: SyncRequest,
    now_ms: int,
    policy: Policy,
) -> SyncAnswer:
    _note_state(tx, row, request, now_ms, policy)
    ids = hosts.ids_of_units(tx, {unit.unit for unit in request.finished})
    finish_units(
        tx,
        row,
        [
            Claim(
                ids[unit.unit],
                unit.kind,
                unit.round,
                unit.pages,
                unit.response_bytes,
                unit.reason,
            )
            for unit in request.finished
            if unit.unit in ids
        ],
        request.generation_held,
        now_ms,
    )
    if request.generation_held > row.generation:
        agents.update(tx, row.id, generation=request.generation_held)
        agents.raise_generation(tx, row.id)
    else:
        rights.free(
            tx,
            now_ms,
            "acknowledged",
            agent_id=row.id,
            acknowledged=request.generation_held,
        )
    if not request.reports_waiting:
        _close_unlogged(tx, row, now_ms, policy)
    _note_addresses(tx, row, request, now_ms)
    _note_command(tx, agent, row, request, now_ms)
    row = agents.by_id(tx, row.id) or row
    permit = _renewed(tx, row, request.generation_held, now_ms, policy.permit_s, policy)
    current = rounds.open_round(tx)
    soon = request.generation_held != row.generation or permit is None
    poll_s = _poll_s(tx, row, request.sequence, policy, soon=soon and row.subscribed)
    promised_ms = now_ms + round(poll_s * 1000)
    if request.next_contact_ms is not None:
        promised_ms = max(promised_ms, now_ms + request.next_contact_ms - request.clock_ms)
    agents.update(tx, row.id, promised_ms=promised_ms)
    return SyncAnswer(
        server_time_ms=now_ms,
        next_poll_s=poll_s,
        round=current.number if current is not None else rounds.last_number(tx),
        generation=row.generation,
        permit=permit,
        command=_command(row),
        message=_message(row, permit),
    )


def _note_state(
    tx: Transaction, row: AgentRow, request: SyncRequest, now_ms: int, policy: Policy
) -> None:
    counters = request.counters.model_dump_json()
    worked = request.counters.requests > 0 and counters != row.counters
    agents.update(
        tx,
        row.id,
        lost_ms=None,
        last_contact_ms=now_ms,
        last_contact="sync",
        last_work_ms=now_ms if worked else row.last_work_ms,
        boot_id=request.boot_id,
        sequence=request.sequence,
        version=request.version,
        state=request.state,
        state_reason=request.state_reason,
        skew_ms=request.clock_ms - now_ms,
        disk_free_bytes=request.disk_free_bytes,
        reports_waiting=request.reports_waiting,
        counters=counters,
        update_result=request.update_result or row.update_result,
        round_held=request.round_held,
        generation_held=request.generation_held,
    )


def _close_unlogged(tx: Transaction, row: AgentRow, now_ms: int, policy: Policy) -> None:
    """Give up probes that were finished a while ago, of an agent that has nothing left to send."""
    before_ms = now_ms - round(policy.log_grace_s * 1000)
    units = probes.unlogged(tx, row.id, before_ms, policy.batch)
    probes.fail(
        tx, "finished, but no log of it came", agent_id=row.id, unit_ids=units, states=["finished"]
    )


def _note_addresses(tx: Transaction, row: AgentRow, request: SyncRequest, now_ms: int) -> None:
    """Take what the agent sees of hosts that it holds; what it says of others is its own affair."""
    keys = {seen.host: seen.addresses for seen in request.addresses if seen.addresses}
    known = {unit.id: unit for unit in hosts.units_of_hosts(tx, keys)}
    held = [
        known[right.unit_id] for right in rights.of_units(tx, known) if right.agent_id == row.id
    ]
    by_path = {unit.host_id: unit.key[: len(unit.key) - len(unit.path) + 1] for unit in held}
    record_addresses(
        tx, row.id, {host: keys[key] for host, key in by_path.items() if key in keys}, now_ms
    )


def _note_command(
    tx: Transaction, agent: AgentIdentity, row: AgentRow, request: SyncRequest, now_ms: int
) -> None:
    if row.command_id and request.command_done == row.command_id and not row.command_done_ms:
        agents.update(tx, row.id, command_done_ms=now_ms)
        note(tx, now_ms, agent.actor, "agent.command-done", row.name, command=row.command)


def _command(row: AgentRow) -> Command | None:
    if not row.command_id or row.command_done_ms is not None:
        return None
    return Command.model_validate(
        {"id": row.command_id, "name": row.command, "argument": row.command_argument}
    )


def _renewed(
    tx: Transaction,
    row: AgentRow,
    generation_held: int,
    now_ms: int,
    duration_s: float,
    policy: Policy,
) -> SyncPermit | None:
    """Renew the permit, or return None: not a member, an old list, or another key's not over."""
    if not row.subscribed or row.rejoined:
        return None
    kept = Permit(row.permit_epoch, row.permit_until_ms, row.fence_generation)
    at_ms = manager_time(now_ms, clock.last_tick(tx) or now_ms)
    # 0: no list is in force there, and the one that it takes next is new.
    held = generation_held or row.fence_generation
    renewed = kept.renew(held, at_ms, round(duration_s * 1000), round(policy.gap_s * 1000))
    if renewed is None:
        return None
    agents.update(
        tx,
        row.id,
        permit_epoch=renewed.epoch,
        permit_set_ms=now_ms,
        permit_until_ms=renewed.until_ms,
    )
    return SyncPermit(epoch=renewed.epoch, duration_s=duration_s)


def _poll_s(tx: Transaction, row: AgentRow, sequence: int, policy: Policy, *, soon: bool) -> float:
    """Return when to call again: spread, so that a fleet that started together drifts apart."""
    digest = hashlib.sha256(f"{row.name} {sequence}".encode()).digest()
    spread = 0.8 + 0.4 * digest[0] / 255
    if soon:
        return policy.soon_poll_s * spread
    return max(policy.next_poll_s, agents.active(tx) / policy.syncs_per_s) * spread


def _message(row: AgentRow, permit: SyncPermit | None) -> str:
    if permit is not None:
        return ""
    if not row.subscribed:
        return "this agent has left; `prs subscribe` brings it back"
    if row.rejoined:
        return "the permit of this agent's old key is not over yet: fetching begins after it"
    return "take the list (M1) and sync again: the one held is older than the last take-over"


def renew_plain(tx: Transaction, row: AgentRow, what: str, now_ms: int, policy: Policy) -> AgentRow:
    """Note a message of a plain agent, which renews its permit; return it as it is now.

    It has no fence: it does not say which list it holds. What it may fetch twice after a
    take-over is shown, not prevented.
    """
    agents.update(tx, row.id, lost_ms=None, last_contact_ms=now_ms, last_contact=what)
    _renewed(tx, replace(row, fence_generation=0), 0, now_ms, policy.plain_renewal_s, policy)
    return agents.by_id(tx, row.id) or row


def note_message(
    db: Database,
    agent: AgentIdentity,
    what: str,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> None:
    """Note that an agent sent one of the five messages; what: `record`, `submitlog`, ...

    Of a plain agent any message renews its assignment; one that has left or was retired stays so.
    """
    with db.write() as tx:
        _noted(tx, agent, what, now_ms, policy)


def _noted(
    tx: Transaction, agent: AgentIdentity, what: str, now_ms: int, policy: Policy
) -> AgentRow:
    row = agents.by_id(tx, agent.id)
    if row is None:
        raise ForbiddenError(f"agent {agent.name} does not exist any more")
    if row.is_plain and row.retired_ms is None:
        return renew_plain(tx, row, what, now_ms, policy)
    agents.update(tx, row.id, last_contact_ms=now_ms, last_contact=what)
    return row


def is_restart(
    db: Database, agent: AgentIdentity, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> bool:
    """Answer M4: a restart was ordered, and no list was taken since."""
    with db.write() as tx:
        row = _noted(tx, agent, "isrestart", now_ms, policy)
        agents.update(tx, row.id, restart_asked_ms=now_ms)
        return row.restart_ordered_ms is not None


def subscribe(
    db: Database, agent: AgentIdentity, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> None:
    """Let an agent take part (M5); one that does already stays as it is. Raises ForbiddenError."""
    with db.write() as tx:
        row = _noted(tx, agent, "subscribe", now_ms, policy)
        if row.retired_ms is not None:
            raise ForbiddenError(f"agent {agent.name} was retired; ask for a new join token")
        if not row.subscribed:
            agents.update(tx, row.id, subscribed=True)
            note(tx, now_ms, agent.actor, "agent.subscribe", agent.name)


def unsubscribe(
    db: Database, agent: AgentIdentity, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> None:
    """Let an agent leave (M5): it has stopped fetching, and its rights are free at once.

    Its units are given to others by the next tick. Its old list brings no permit any more.
    """
    with db.write() as tx:
        row = _noted(tx, agent, "unsubscribe", now_ms, policy)
        if not row.subscribed:
            return
        probes.fail(tx, "its agent left", agent_id=row.id)
        rights.free(tx, now_ms, "its agent left", agent_id=row.id)
        end_permit(tx, row)
        agents.update(tx, row.id, subscribed=False)
        note(tx, now_ms, agent.actor, "agent.unsubscribe", agent.name)


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
