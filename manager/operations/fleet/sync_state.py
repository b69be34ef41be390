"""State that an agent reports in a sync: finished units, addresses, capacity, its reasons.

Invariants: all of it may come twice. Rights of finished units are freed here, and those that a list
which was acknowledged names no more; nothing else of a sync frees a right. A stored reason is
small, and each code in it is one of the catalogues (`shared.messages.received`); what an agent says
beside that, or by a code that this version does not know, is stored as the sentence that it sent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import hosts
from manager.db.ownership import rights
from manager.db.planning import probes
from manager.operations.actor import note
from manager.operations.hosts.addresses import record_addresses
from manager.operations.hosts.host_shares import record_backoffs
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.logs.completion import AgentCompletions, CompletionClaim, finish_all
from manager.operations.policy import Policy
from shared.messages import Message
from shared.messages.received import received_message
from shared.wire.sync import SyncRequest, said
from shared.wire.sync_json import json_of

__all__ = [
    "AgentSync",
    "acknowledge",
    "close_unlogged",
    "reason_of",
    "reports_changes",
    "state_of",
    "store_states",
]

AgentSync = tuple[AgentIdentity, AgentRow, SyncRequest]
"""An agent, its row before the sync, and its request."""


def state_of(row: AgentRow, request: SyncRequest, now_ms: int) -> dict[str, Any]:
    """Return the columns of an agent that say how it is."""
    counters = json_of(request.counters).decode()
    worked = request.counters.requests > 0 and counters != row.counters
    return {
        "lost_ms": None,
        "returned": row.returned or row.lost_ms is not None,
        "last_contact_ms": now_ms,
        "last_contact": "sync",
        "last_work_ms": now_ms if worked else row.last_work_ms,
        "boot_id": request.boot_id,
        "sequence": request.sequence,
        "version": request.version,
        "state": request.state,
        "state_reason": reason_of(request),
        "skew_ms": request.clock_ms - now_ms,
        "disk_free_bytes": request.disk_free_bytes,
        "capacity": json_of(request.capacity).decode() if request.capacity else row.capacity,
        "reports_waiting": request.reports_waiting,
        "refetches": request.refetches,
        "unit_rounds": request.unit_rounds,
        "shared_held": request.shared_held,
        "reopens": request.reopens,
        "counters": counters,
        "update_result": received_message(request.update_message, request.update_result)
        or row.update_result,
        "round_held": request.round_held,
        "generation_held": request.generation_held,
        "renamed_settings": json.dumps(said(request.renamed_settings)),
        "serving_url": request.serving.url if request.serving else "",
        "serving_fingerprint": request.serving.fingerprint if request.serving else "",
    }


def reports_changes(request: SyncRequest) -> bool:
    """Return whether an agent says more than how it is; most syncs do not."""
    told = request.finished or request.addresses or request.rests
    return bool(told) or request.command_done is not None


def store_states(tx: Transaction, telling: Sequence[AgentSync], now_ms: int) -> None:
    """Take all that some agents say, of each one; `reports_changes` was true of each."""
    agents.update_each(
        tx, [{"id": row.id, **state_of(row, request, now_ms)} for _, row, request in telling]
    )
    _finish(tx, telling, now_ms)
    behind = set(rights.agents_with_withdrawn(tx, [row.id for _, row, _ in telling]))
    for agent, row, request in telling:
        if row.id in behind or request.generation_held > row.generation:
            acknowledge(tx, row, request, now_ms)
        _note_addresses(tx, row, request, now_ms)
        record_backoffs(tx, row.id, request.rests, now_ms)
        _note_command(tx, agent, row, request, now_ms)


def _finish(tx: Transaction, telling: Sequence[AgentSync], now_ms: int) -> None:
    ids = hosts.ids_of_units(
        tx, {unit.unit for _, _, request in telling for unit in request.finished}
    )
    finish_all(
        tx,
        [
            AgentCompletions(
                row,
                [
                    CompletionClaim(
                        unit_id=ids[unit.unit],
                        kind=unit.kind,
                        round=unit.round,
                        pages=unit.pages,
                        response_bytes=unit.response_bytes,
                        reason=unit.reason,
                        failure=unit.failure,
                        crawl_delay_ms=unit.crawl_delay_ms,
                    )
                    for unit in request.finished
                    if unit.unit in ids
                ],
                request.generation_held,
            )
            for _, row, request in telling
        ],
        now_ms,
    )


def acknowledge(tx: Transaction, row: AgentRow, request: SyncRequest, now_ms: int) -> None:
    """Free what the list that an agent holds no longer names, or pass over a list from nowhere."""
    if request.generation_held > row.generation:
        agents.update(tx, row.id, generation=request.generation_held)
        agents.raise_generation(tx, row.id)
    else:
        rights.free(
            tx,
            now_ms,
            rights.ACKNOWLEDGED,
            agent_id=row.id,
            acknowledged=request.generation_held,
        )


def close_unlogged(tx: Transaction, agent_id: int, now_ms: int, policy: Policy) -> None:
    """Give up probes that were finished a while ago, of an agent that has nothing left to send."""
    before_ms = now_ms - round(policy.log_timeout_s * 1000)
    units = probes.unlogged(tx, agent_id, before_ms, policy.tick_batch_rows)
    probes.fail(
        tx,
        Message("planning.no_log_after_finish"),
        agent_id=agent_id,
        unit_ids=units,
        states=["finished"],
    )


def _note_addresses(tx: Transaction, row: AgentRow, request: SyncRequest, now_ms: int) -> None:
    """Take what the agent sees of hosts that it holds; what it says of others is its own affair."""
    keys = {seen.host: seen.addresses for seen in request.addresses if seen.addresses}
    if not keys:
        return
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
        note(tx, now_ms, agent.actor, "agent.complete-command", row.name, command=row.command)


def reason_of(request: SyncRequest) -> Message | None:
    """Return the reason of the state that an agent reports; None: it gives none."""
    return received_message(request.state_message, request.state_reason)
