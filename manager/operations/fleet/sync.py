"""Sync: agents report their state and work and receive orders; many syncs in one transaction.

Invariants. Rights that were withdrawn are freed when the agent acknowledges a list without them,
those of finished units when it says so; nothing else here frees a right. A request that was
answered already changes nothing when it comes again, and one that is older than that is refused.
What a sync changes is its own agent's affair, so those of one transaction are in no order; what one
of them says of units is taken before any is answered. Source: docs/adr/0114, 0129.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.fleet.sync_facts import SyncFacts, sync_facts
from manager.db.hosts import crawl_scopes
from manager.db.ownership import rights
from manager.db.planning import probes
from manager.db.segments import collection_orders
from manager.db.segments.collection_orders import OrderRow
from manager.errors import PrsmError
from manager.operations.fleet.fleet_rules import settings_for
from manager.operations.fleet.link_counts import record_link_kinds
from manager.operations.fleet.sync_refusals import refusal_of
from manager.operations.fleet.sync_state import (
    acknowledge,
    close_unlogged,
    reports_changes,
    state_of,
    store_states,
)
from manager.operations.hosts.address_rule_news import address_rules_for
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.ownership.permits import contact_time_after, renewed
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.operations.segments.collection_orders import order_message
from manager.operations.segments.sending_limits import limits_for_agent
from manager.operations.segments.withdrawals import withdrawn_for
from shared.crawl_scope.rules import with_default
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.sync import Command, CrawlScope, Permit, SyncAnswer, SyncRequest
from shared.wire.sync_json import message_of

__all__ = ["Asked", "fleet_size", "sync_all"]


@frozen
class Asked:
    """One sync. key_hash: of the key that was shown, if this transaction is to look whose it is."""

    agent: AgentIdentity
    request: SyncRequest
    key_hash: str | None = None


def fleet_size(db: Database) -> int:
    """Return how many agents take part, which decides how often each calls."""
    with db.read() as tx:
        return agents.active(tx)


def sync_all(
    db: Database,
    asked: Sequence[Asked],
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
    fleet: int | None = None,
) -> list[SyncAnswer | PrsmError]:
    """Record the states of some agents, each once, and return their orders, or refusals.

    A refusal is a ForbiddenError (it names another agent; it was retired), CloneError (its sequence
    runs backwards in another process: two machines have its key), ConflictError (an old request
    came late, an impossible generation) or TooOldError (a version below the minimum).

    now_ms: by the clock of the manager that was asked; all that is written down and answered is by
    that of the ticks (`contact_time_after`).
    fleet: how many agents take part, if the caller knows. What is noted of a refused one is kept.
    """
    with db.write() as tx:
        facts = sync_facts(tx)
        at_ms = contact_time_after(facts.last_tick_ms, now_ms, policy)
        refused: dict[int, PrsmError] = {}

        def good(some: list[Asked]) -> list[tuple[Asked, AgentRow]]:
            """Return the requests that are not refused, with their agents."""
            rows = agents.by_ids(tx, [one.agent.id for one in some])
            passed = []
            for one in some:
                row = rows.get(one.agent.id)
                why = refusal_of(
                    tx, one.agent, row, one.request, one.key_hash, facts.minimum_version, at_ms
                )
                if why is not None:
                    refused[one.agent.id] = why
                elif row is not None:
                    passed.append((one, row))
            return passed

        telling = good([one for one in asked if reports_changes(one.request)])
        if telling:
            store_states(tx, [(one.agent, row, one.request) for one, row in telling], at_ms)
        again = agents.by_ids(tx, [row.id for _, row in telling])
        passed = [(one, again[row.id]) for one, row in telling]
        rest = good([one for one in asked if not reports_changes(one.request)])
        record_link_kinds(tx, [(row, one.request) for one, row in (*telling, *rest)])
        passed += rest
        answers = _SyncAnswers(tx, facts, at_ms, policy, fleet).answers(passed) if passed else {}
    return [refused.get(one.agent.id) or answers[one.agent.id] for one in asked]


class _SyncAnswers:
    """Facts common to all syncs of a transaction, read once."""

    def __init__(
        self, tx: Transaction, facts: SyncFacts, now_ms: int, policy: Policy, fleet: int | None
    ) -> None:
        """now_ms: as ticks count."""
        self._tx = tx
        self._facts = facts
        self._now_ms = now_ms
        self._policy = policy
        self._fleet = agents.active(tx) if fleet is None else fleet
        self._settings = settings_for(tx, None)
        self._last_tick_ms = now_ms if facts.last_tick_ms is None else facts.last_tick_ms

    def answers(self, passed: Sequence[tuple[Asked, AgentRow]]) -> dict[int, SyncAnswer]:
        """Record the state of the agents, renew their permits, and return their answers."""
        tx = self._tx
        rows = self._settled(passed)
        orders: dict[int, list[OrderRow]] = defaultdict(list)
        for order in collection_orders.open_orders(tx, rows):
            orders[order.agent_id].append(order)
        answers: dict[int, SyncAnswer] = {}
        changes: list[dict[str, Any]] = []
        for one, _ in passed:
            row = rows[one.agent.id]
            answers[row.id], changed = self._answer(row, one.request, orders[row.id])
            changes.append({"id": row.id, **changed})
        agents.update_each(tx, changes)
        return answers

    def _settled(self, passed: Sequence[tuple[Asked, AgentRow]]) -> dict[int, AgentRow]:
        """Free acknowledged rights, give up probes without a log; return the agents after that."""
        tx = self._tx
        requests = {row.id: one.request for one, row in passed}
        rows = {row.id: row for _, row in passed}
        leaping = {
            id_ for id_, row in rows.items() if requests[id_].generation_held > row.generation
        }
        for agent_id in {*rights.agents_with_withdrawn(tx, rows), *leaping}:
            acknowledge(tx, rows[agent_id], requests[agent_id], self._now_ms)
        silent = [agent_id for agent_id in rows if not requests[agent_id].reports_waiting]
        before_ms = self._now_ms - round(self._policy.log_timeout_s * 1000)
        for agent_id in probes.agents_with_unlogged(tx, silent, before_ms):
            close_unlogged(tx, agent_id, self._now_ms, self._policy)
        return rows | agents.by_ids(tx, leaping)

    def _answer(
        self, row: AgentRow, request: SyncRequest, orders: Sequence[OrderRow]
    ) -> tuple[SyncAnswer, dict[str, Any]]:
        """Return the answer to one agent, and the columns of it that change."""
        now_ms, policy = self._now_ms, self._policy
        changed = state_of(row, request, now_ms)
        kept = renewed(row, request.generation_held, self._last_tick_ms, policy.permit_s, policy)
        permit = None
        changed |= {
            "permit_epoch": row.permit_epoch,
            "permit_set_ms": row.permit_set_ms,
            "permit_until_ms": row.permit_until_ms,
        }
        if kept is not None:
            permit = Permit(epoch=kept.epoch, duration_s=policy.permit_s)
            changed |= {
                "permit_epoch": kept.epoch,
                "permit_set_ms": now_ms,
                "permit_until_ms": kept.until_ms,
            }
        shared, shared_from, shared_number = address_rules_for(
            self._tx, request.shared_held, self._facts.address_change
        )
        soon = request.generation_held != row.generation or permit is None or bool(shared)
        poll_s = self._poll_s(row, request.sequence, soon=soon and row.subscribed)
        promised_ms = now_ms + round(poll_s * 1000)
        if request.next_contact_ms is not None:
            promised_ms = max(promised_ms, now_ms + request.next_contact_ms - request.clock_ms)
        changed["promised_ms"] = promised_ms
        withdrawn, withdrawn_number = withdrawn_for(
            self._tx, row.id, request.withdrawn_held, self._facts.withdrawal
        )
        answer = SyncAnswer(
            server_time_ms=now_ms,
            next_poll_s=poll_s,
            round=self._facts.round,
            generation=row.generation,
            permit=permit,
            settings=replace(self._settings, sending=limits_for_agent(row)),
            scope=self._scope_for(request),
            command=_command(row),
            collection=tuple(order_message(order) for order in orders),
            withdrawn=tuple(withdrawn),
            withdrawn_number=withdrawn_number,
            shared=shared,
            shared_from=shared_from,
            shared_number=shared_number,
            message="" if permit is not None else str(_no_permit(row)),
        )
        return answer, changed

    def _scope_for(self, request: SyncRequest) -> CrawlScope | None:
        """Return the scope of the crawl for an agent that holds another version of it."""
        if request.scope_held is None or request.scope_held == self._facts.scope_version:
            return None
        row = crawl_scopes.scope_in_force(self._tx)
        if row is None:
            return CrawlScope(version=0)
        return CrawlScope(version=row.id, text=with_default(row.rules))

    def _poll_s(self, row: AgentRow, sequence: int, *, soon: bool) -> float:
        """Return when to call again: spread, so that a fleet that started together drifts apart."""
        digest = hashlib.sha256(f"{row.name} {sequence}".encode()).digest()
        spread = 0.8 + 0.4 * digest[0] / 255
        if soon:
            return self._policy.pending_sync_interval_s * spread
        policy = self._policy
        return max(policy.sync_interval_s, self._fleet / policy.syncs_per_s) * spread


def _command(row: AgentRow) -> Command | None:
    if not row.command_id or row.command_done_ms is not None:
        return None
    return message_of(
        Command, {"id": row.command_id, "name": row.command, "argument": row.command_argument}
    )


def _no_permit(row: AgentRow) -> Message:
    """Return why an agent has no permit."""
    if not row.subscribed:
        return Message("fleet.sync_left")
    if row.rejoined:
        return Message("fleet.sync_rejoined")
    return Message("fleet.sync_list_outdated")
