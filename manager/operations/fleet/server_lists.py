"""The server list (M1): the units whose right an agent has, as of one generation.

Invariant: the list of a generation names exactly the rights given by then and not withdrawn by
then; those that ended in the meantime may be missing, and never come back under the same number.
Where units were finished since the list was last written, a new generation begins, so that an
agent that lost its disk is not sent back to them.
The lines are read in pages: a list of a million units is never in memory. Writing and sending them
is left to the caller, who keeps one file a generation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.ownership import right_lists, rights
from manager.db.rounds import rounds
from manager.errors import ForbiddenError
from manager.operations.fleet.contact import renew_plain
from manager.operations.fleet.list_orders import orders_of
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.logs.plain_completion import finish_by_list
from manager.operations.ownership.grants import grant_waiting
from manager.operations.ownership.permits import contact_time
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.frozen import frozen
from shared.wire.orders import ListHead, Order, head_lines, order_lines
from shared.wire.server_list import ListLine

__all__ = ["ListVersion", "current_list"]

PAGE: Final = 2_000


@frozen
class ListVersion:
    """A list to send. `lines` reads the database while it is consumed, once, from any thread."""

    agent_id: int
    generation: int
    round: int
    lines: Iterator[ListLine]


def current_list(
    db: Database, agent: AgentIdentity, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> ListVersion:
    """Return the list that an agent is to work from now, and note that it was asked for.

    A restart that was ordered is thereby handled. For a plain agent asking is more: it renews its
    permit, finishes units that it is through with (`plain_completion`), and acknowledges the list.
    Raises ForbiddenError for an agent that was retired.
    """
    with db.write() as tx:
        now_ms = contact_time(tx, now_ms, policy)
        row = agents.by_id(tx, agent.id)
        if row is None or row.retired_ms is not None:
            raise ForbiddenError("fleet.retired_gets_no_work", name=agent.name)
        if row.is_plain:
            row = renew_plain(tx, row, "list", now_ms, policy)
            finish_by_list(tx, row, now_ms)
            grant_waiting(tx, row, rounds.open_rounds(tx), now_ms, policy)
            row = agents.by_id(tx, agent.id) or row
        if row.list_outrun or (row.is_plain and row.list_changed):
            agents.raise_generation(tx, row.id)
            row = agents.by_id(tx, agent.id) or row
        if row.list_limit is None and row.generation != row.list_sent_generation:
            rights.lift_limit(tx, row.id)  # an order holds for one list, and that was sent
        if row.is_plain:
            rights.free(
                tx, now_ms, rights.ACKNOWLEDGED, agent_id=row.id, acknowledged=row.generation
            )
        agents.update(
            tx,
            row.id,
            last_contact_ms=now_ms,
            last_contact="list",
            list_sent_ms=now_ms,
            list_sent_generation=row.generation,
            log_since_list=False,
            list_limit=row.list_limit if row.list_changed else None,
            restart_ordered_ms=None,
            restart_handled_ms=now_ms if row.restart_ordered_ms else row.restart_handled_ms,
        )
        if row.generation != row.list_sent_generation:
            rights.note_sent(tx, row.id, row.generation, now_ms)
        number = rounds.last_number(tx)
        if not row.unit_rounds:  # one round at a time
            number = rights.oldest_round(tx, row.id) or number
        kind = _kind(tx, row)
    lease_s = policy.plain_permit_s if row.is_plain else policy.permit_s
    head = ListHead(number, row.generation, round(lease_s))
    most = policy.start_pages_per_unit
    return ListVersion(row.id, row.generation, number, _lines(db, row, head, kind, now_ms, most))


def _kind(tx: Transaction, row: AgentRow) -> str | None:
    """Return what a plain agent's list is of, as it has one limit: crawls before probes."""
    if not row.is_plain:
        return None
    return "crawl" if rights.count_of(tx, row.id, "crawl") else "probe"


def _lines(
    db: Database, row: AgentRow, head: ListHead, kind: str | None, now_ms: int, most: int
) -> Iterator[ListLine]:
    yield from head_lines(head)
    number = head.round if row.unit_rounds else None
    yield from order_lines(_orders(db, row, kind, now_ms, most, number))


def _orders(
    db: Database, row: AgentRow, kind: str | None, now_ms: int, most: int, number: int | None
) -> Iterator[Order]:
    after = (-1, -1)
    while True:
        with db.read() as tx:
            page = right_lists.listed(tx, row.id, row.generation, kind, after, PAGE)
            made = orders_of(tx, row.id, page, now_ms, most, number)
        if not page:
            return
        yield from made
        after = (page[-1].max_transfer, page[-1].unit_id)
