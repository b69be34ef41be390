"""Sync: an agent says what it holds and did, and is told what to do.

Invariants. Rights that were withdrawn are freed when the agent acknowledges a list without them,
those of finished units when it says so; nothing else here frees a right. A request that was
answered already changes nothing when it comes again, and one that is older than that is refused.
"""

from __future__ import annotations

import hashlib
from typing import Final

from manager.db import agents, hosts, probes, releases, rights, rounds
from manager.db.agents import AgentRow
from manager.db.engine import Database, Transaction
from manager.errors import CloneError, ConflictError, ForbiddenError, PrsmError, TooOldError
from manager.operations.actor import note
from manager.operations.addresses import record_addresses
from manager.operations.collection_orders import orders_for
from manager.operations.enrolment import AgentIdentity
from manager.operations.finishing import Claim, finish_units
from manager.operations.fleet_rules import settings_for
from manager.operations.permits import renew_permit
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.operations.rollouts import too_old
from manager.operations.sending_limits import sending_of
from manager.operations.sharing import note_rests
from manager.operations.withdrawals import withdrawn_for
from shared.wire.sync import Command, Permit, SyncAnswer, SyncRequest

__all__ = [
    "sync",
]

LONGEST_LEAP: Final = 1_000_000
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
    late, an impossible generation), TooOldError (a version below the minimum).
    """
    with db.write() as tx:
        row = agents.by_id(tx, agent.id)
        if request.agent != agent.name or row is None:
            raise ForbiddenError(f"this key is that of agent {agent.name}, not {request.agent}")
        if row.retired_ms is not None:
            raise ForbiddenError(f"agent {agent.name} was retired: it gets no work any more")
        refusal = _outdated(tx, row, request) or _refused(tx, row, request, now_ms)
        if refusal is None:
            return _answered(tx, agent, row, request, now_ms, policy)
    # The flag of a clone, or the old version, is kept although the request is refused.
    raise refusal


def _outdated(tx: Transaction, row: AgentRow, request: SyncRequest) -> PrsmError | None:
    """Refuse a version below the minimum: that is no contact, so its units go to others in time.

    Reports and captures of it are taken all the same: they do not come by sync.
    """
    minimum = releases.minimum(tx)
    if not too_old(minimum, request.version):
        return None
    agents.update(tx, row.id, version=request.version)
    return TooOldError(
        f"version {request.version}: agents below {minimum} get no work any more; run "
        "`prs update`. What was fetched is still taken"
    )


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
    note_rests(tx, row.id, request.rests, now_ms)
    _note_command(tx, agent, row, request, now_ms)
    row = agents.by_id(tx, row.id) or row
    permit = renew_permit(tx, row, request.generation_held, now_ms, policy.permit_s, policy)
    current = rounds.open_round(tx)
    soon = request.generation_held != row.generation or permit is None
    poll_s = _poll_s(tx, row, request.sequence, policy, soon=soon and row.subscribed)
    promised_ms = now_ms + round(poll_s * 1000)
    if request.next_contact_ms is not None:
        promised_ms = max(promised_ms, now_ms + request.next_contact_ms - request.clock_ms)
    agents.update(tx, row.id, promised_ms=promised_ms)
    withdrawn, withdrawn_number = withdrawn_for(tx, row.id, request.withdrawn_held)
    return SyncAnswer(
        server_time_ms=now_ms,
        next_poll_s=poll_s,
        round=current.number if current is not None else rounds.last_number(tx),
        generation=row.generation,
        permit=permit,
        settings=settings_for(tx, sending_of(row)),
        command=_command(row),
        collection=orders_for(tx, row),
        withdrawn=withdrawn,
        withdrawn_number=withdrawn_number,
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
        returned=row.returned or row.lost_ms is not None,
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
        capacity=request.capacity.model_dump_json() if request.capacity else row.capacity,
        reports_waiting=request.reports_waiting,
        refetches=request.refetches,
        counters=counters,
        update_result=request.update_result or row.update_result,
        round_held=request.round_held,
        generation_held=request.generation_held,
        serving_url=request.serving.url if request.serving else "",
        serving_fingerprint=request.serving.fingerprint if request.serving else "",
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


def _poll_s(tx: Transaction, row: AgentRow, sequence: int, policy: Policy, *, soon: bool) -> float:
    """Return when to call again: spread, so that a fleet that started together drifts apart."""
    digest = hashlib.sha256(f"{row.name} {sequence}".encode()).digest()
    spread = 0.8 + 0.4 * digest[0] / 255
    if soon:
        return policy.soon_poll_s * spread
    return max(policy.next_poll_s, agents.active(tx) / policy.syncs_per_s) * spread


def _message(row: AgentRow, permit: Permit | None) -> str:
    if permit is not None:
        return ""
    if not row.subscribed:
        return "this agent has left; `prs subscribe` brings it back"
    if row.rejoined:
        return "the permit of this agent's old key is not over yet: fetching begins after it"
    return "take the list (M1) and sync again: the one held is older than the last take-over"
