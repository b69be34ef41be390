"""News of start pages: units whose agents have not been sent their newest start pages.

A row goes when a list that has the pages is due, by a new generation or because the unit waits for
its agent anyway. Units of split hosts have no row: their agents are notified at once (`pieces`).
"""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from manager.db.tables import agents, assignments, start_page_news, unit_rounds, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["NewsRow", "add", "any_waiting", "busy_agents", "drop", "reopen", "waiting"]


@frozen
class NewsRow:
    """A unit with new start pages, and its state in a round.

    agent_id, state: None where the round does not have it. is_plain, reopens: of that agent.
    owner_id: whom it belongs to now.
    """

    unit_id: int
    since_ms: int
    path: str
    state: str | None
    agent_id: int | None
    reopened: int | None
    is_plain: bool | None
    reopens: bool | None
    owner_id: int | None


def add(tx: Transaction, unit_ids: Collection[int], now_ms: int) -> None:
    """Note that units have new start pages; those that wait already wait since then."""
    rows = [{"unit_id": unit, "since_ms": now_ms} for unit in sorted(unit_ids)]
    tx.insert_new(start_page_news, rows)


def any_waiting(tx: Transaction) -> bool:
    """Return whether the start pages of any unit are to be sent."""
    return tx.exists(start_page_news.c.unit_id.is_not(None))


def waiting(tx: Transaction, round_number: int, limit: int) -> list[NewsRow]:
    """Return the units with news as they are in a round, the oldest news first."""
    of_round, owner = unit_rounds.c, assignments.c
    return tx.rows(
        NewsRow,
        sa.select(
            start_page_news.c.unit_id,
            start_page_news.c.since_ms,
            units.c.path,
            of_round.state,
            of_round.agent_id,
            of_round.reopened,
            (agents.c.kind == "plain").label("is_plain"),
            agents.c.reopens,
            owner.agent_id.label("owner_id"),
        )
        .join(units, units.c.id == start_page_news.c.unit_id)
        .outerjoin(
            unit_rounds,
            sa.and_(of_round.unit_id == units.c.id, of_round.round == round_number),
        )
        .outerjoin(agents, agents.c.id == of_round.agent_id)
        .outerjoin(assignments, sa.and_(owner.unit_id == units.c.id, owner.until_ms.is_(None)))
        .order_by(start_page_news.c.since_ms, start_page_news.c.unit_id)
        .limit(limit),
    )


def busy_agents(tx: Transaction, round_number: int) -> set[int]:
    """Return the agents that have something of a round to do."""
    c = unit_rounds.c
    query = sa.select(c.agent_id).distinct()
    return set(tx.values(query.where(c.round == round_number, c.state.in_(("waiting", "granted")))))


def reopen(tx: Transaction, round_number: int, unit_ids: Collection[int]) -> None:
    """Reopen units that are done in a round: they wait for their agents' rights."""
    c = unit_rounds.c
    continuing = (
        unit_rounds.update()
        .where(c.round == round_number, c.state == "finished")
        .values(state="waiting", reopened=c.reopened + 1, finished_ms=None)
    )
    tx.changed_among(continuing, c.unit_id, unit_ids)


def drop(tx: Transaction, unit_ids: Collection[int] | None = None) -> None:
    """Forget the news of units; None: of all."""
    if unit_ids is None:
        tx.execute(start_page_news.delete())
    else:
        tx.changed_among(start_page_news.delete(), start_page_news.c.unit_id, unit_ids)
