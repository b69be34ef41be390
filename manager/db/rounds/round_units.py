"""The units of a round: waiting -> granted -> finished or failed, or cancelled."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import sqlalchemy as sa

from manager.db.engine import Transaction, any_of, chunks
from manager.db.hosts.pieces import beside_pieces
from manager.db.ownership.pins import not_banned
from manager.db.ownership.rights import may_crawl
from manager.db.tables import agents, assignments, hosts, unit_rounds, units
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "FinishedRow",
    "WaitingUnit",
    "agents_waiting",
    "any_unfinished",
    "begun",
    "cancel_units",
    "enter",
    "enter_all",
    "failures_by_agent",
    "fetched_among",
    "finish_units",
    "finished_by",
    "finishers",
    "hand_over",
    "progress_by_agent",
    "progress_of_agent",
    "set_granted",
    "waiting_for",
]

STATES: Final = ("waiting", "granted", "finished", "cancelled", "failed")
OVER: Final = ("finished", "failed")


@frozen
class WaitingUnit:
    """A unit that its owner could be given to crawl now."""

    unit_id: int
    group_id: int


@frozen
class FinishedRow:
    """A report of an agent on a finished unit.

    reason: a text is the agent's own. failure: not a single page came, and why.
    """

    unit_id: int
    agent_id: int
    round: int
    pages: int
    size_bytes: int
    reason: Message | str | None
    failure: str = ""


def enter_all(tx: Transaction, number: int) -> int:
    """Enter every unit that has an owner into a round; return how many are new in it."""
    there = sa.exists().where(
        unit_rounds.c.round == number, unit_rounds.c.unit_id == assignments.c.unit_id
    )
    owned = sa.select(
        sa.literal(number, sa.BigInteger()),
        assignments.c.unit_id,
        assignments.c.agent_id,
        sa.literal("waiting"),
    ).where(assignments.c.until_ms.is_(None), ~there)
    return tx.changed(
        unit_rounds.insert().from_select(["round", "unit_id", "agent_id", "state"], owned)
    )


def enter(tx: Transaction, number: int, owners: Mapping[int, int]) -> None:
    """Enter units with their owners into a round; those under way there stay.

    A unit that was taken out of the round comes back into it.
    """
    tx.insert_new(
        unit_rounds,
        [
            {"round": number, "unit_id": unit, "agent_id": agent, "state": "waiting"}
            for unit, agent in owners.items()
        ],
    )
    if owners:
        tx.execute(
            unit_rounds.update()
            .where(
                unit_rounds.c.round == number,
                unit_rounds.c.unit_id == sa.bindparam("unit"),
                unit_rounds.c.state == "cancelled",
            )
            .values(agent_id=sa.bindparam("to_agent"), state="waiting", reason=""),
            [{"unit": unit, "to_agent": agent} for unit, agent in owners.items()],
        )


def hand_over(tx: Transaction, number: int, owners: Mapping[int, int]) -> None:
    """Pass unfinished units to their new owners; they wait for a right again."""
    begun = sa.exists().where(unit_rounds.c.round == number)
    if owners and tx.value(sa.select(begun)):
        tx.execute(
            unit_rounds.update()
            .where(
                unit_rounds.c.round == number,
                unit_rounds.c.unit_id == sa.bindparam("unit"),
                unit_rounds.c.agent_id != sa.bindparam("to_agent"),
                any_of(unit_rounds.c.state, "waiting", "granted"),
            )
            .values(agent_id=sa.bindparam("to_agent"), state="waiting", quiet_ms=None),
            [{"unit": unit, "to_agent": agent} for unit, agent in owners.items()],
        )


def agents_waiting(tx: Transaction, number: int) -> list[int]:
    """Return the agents that own units of a round which wait for a right."""
    mine = sa.exists().where(
        unit_rounds.c.agent_id == agents.c.id,
        unit_rounds.c.state == "waiting",
        unit_rounds.c.round == number,
    )
    return tx.values(sa.select(agents.c.id).where(mine))


def waiting_for(
    tx: Transaction, agent_id: int, number: int, limit: int, *, is_plain: bool = False
) -> list[WaitingUnit]:
    """Return units whose owner waits for a right and can get it.

    Units of hosts that the agent never gets are left out, and those that no plain agent can have.
    """
    return tx.rows(
        WaitingUnit,
        sa.select(unit_rounds.c.unit_id, hosts.c.group_id)
        .join(units, units.c.id == unit_rounds.c.unit_id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(
            unit_rounds.c.agent_id == agent_id,
            unit_rounds.c.state == "waiting",
            unit_rounds.c.round == number,
            may_crawl(agent_id, unit_rounds.c.unit_id),
            not_banned(agent_id, hosts.c.id),
            sa.not_(beside_pieces()) if is_plain else sa.true(),
        )
        .order_by(unit_rounds.c.unit_id)
        .limit(limit),
    )


def set_granted(tx: Transaction, number: int, unit_ids: Collection[int]) -> None:
    """Note that the owners of units were given the right to crawl them."""
    for part in chunks(unit_ids):
        tx.execute(
            unit_rounds.update()
            .where(unit_rounds.c.round == number, unit_rounds.c.unit_id.in_(part))
            .values(state="granted")
        )


def finish_units(tx: Transaction, finished: Sequence[FinishedRow], now_ms: int) -> None:
    """Record that agents crawled units to their end, whatever their present owners."""
    if finished:
        tx.execute(
            unit_rounds.update()
            .where(
                unit_rounds.c.round == sa.bindparam("in_round"),
                unit_rounds.c.unit_id == sa.bindparam("unit"),
                any_of(unit_rounds.c.state, "waiting", "granted"),
            )
            .values(
                agent_id=sa.bindparam("agent"),
                state=sa.bindparam("to"),
                pages=sa.bindparam("fetched"),
                bytes=sa.bindparam("size"),
                finished_ms=now_ms,
                reason=sa.bindparam("why"),
                failure=sa.bindparam("failed_by"),
            ),
            [
                {
                    "agent": row.agent_id,
                    "in_round": row.round,
                    "unit": row.unit_id,
                    "fetched": row.pages,
                    "size": row.size_bytes,
                    "why": row.reason,
                    "to": "failed" if row.failure else "finished",
                    "failed_by": row.failure,
                }
                for row in finished
            ],
        )


def cancel_units(
    tx: Transaction, number: int, reason: Message, unit_ids: Collection[int] | None = None
) -> None:
    """Take what is not finished out of a round: of some units, or of all."""
    cancelling = (
        unit_rounds.update()
        .where(unit_rounds.c.round == number, unit_rounds.c.state.in_(("waiting", "granted")))
        .values(state="cancelled", reason=reason)
    )
    if unit_ids is None:
        tx.execute(cancelling)
        return
    for part in chunks(unit_ids):
        tx.execute(cancelling.where(unit_rounds.c.unit_id.in_(part)))


def fetched_among(tx: Transaction, number: int, unit_ids: Collection[int]) -> bool:
    """Return whether a round has crawled any of some units, or is crawling it."""
    return any(
        tx.value(
            sa.select(
                sa.exists().where(
                    unit_rounds.c.round == number,
                    unit_rounds.c.unit_id.in_(part),
                    unit_rounds.c.state.in_(("granted", *OVER)),
                )
            )
        )
        for part in chunks(unit_ids)
    )


def any_unfinished(tx: Transaction, number: int) -> bool:
    """Return whether a unit of a round is still to be crawled."""
    return bool(
        tx.value(
            sa.select(
                sa.exists().where(
                    unit_rounds.c.round == number,
                    unit_rounds.c.state.in_(("waiting", "granted")),
                )
            )
        )
    )


def begun(tx: Transaction, number: int, unit_ids: Collection[int]) -> set[int]:
    """Return those of some units whose crawl in a round has begun, as they do not wait for it."""
    found: set[int] = set()
    for part in chunks(unit_ids):
        found.update(
            tx.values(
                sa.select(unit_rounds.c.unit_id).where(
                    unit_rounds.c.round == number,
                    unit_rounds.c.unit_id.in_(part),
                    unit_rounds.c.state.in_(("granted", *OVER)),
                )
            )
        )
    return found


def finished_by(tx: Transaction, number: int, agent_id: int) -> list[int]:
    """Return the units that an agent finished in a round."""
    return tx.values(
        sa.select(unit_rounds.c.unit_id)
        .where(
            unit_rounds.c.round == number,
            unit_rounds.c.agent_id == agent_id,
            unit_rounds.c.state == "finished",
        )
        .order_by(unit_rounds.c.unit_id)
    )


def finishers(tx: Transaction, number: int) -> dict[int, int]:
    """Return the agents that ended units of a round, and when each ended its last."""
    rows = tx.execute(
        sa.select(unit_rounds.c.agent_id, sa.func.max(unit_rounds.c.finished_ms).label("last_ms"))
        .where(unit_rounds.c.round == number, unit_rounds.c.state.in_(OVER))
        .group_by(unit_rounds.c.agent_id)
    )
    return {row.agent_id: row.last_ms for row in rows}


def failures_by_agent(tx: Transaction, number: int) -> list[tuple[int, str, int]]:
    """Return (agent, failure, units) of the units of a round that failed."""
    rows = tx.execute(
        sa.select(unit_rounds.c.agent_id, unit_rounds.c.failure, sa.func.count().label("n"))
        .where(unit_rounds.c.round == number, unit_rounds.c.state == "failed")
        .group_by(unit_rounds.c.agent_id, unit_rounds.c.failure)
        .order_by(unit_rounds.c.agent_id, sa.desc("n"), unit_rounds.c.failure)
    )
    return [(row.agent_id, row.failure, row.n) for row in rows]


def progress_of_agent(
    tx: Transaction, agent_id: int, numbers: Collection[int]
) -> list[tuple[int, str, int, int, int]]:
    """Return (round, state, units, pages, bytes) of an agent in some rounds."""
    rows = tx.execute(
        sa.select(
            unit_rounds.c.round,
            unit_rounds.c.state,
            sa.func.count().label("held"),
            sa.func.sum(unit_rounds.c.pages).label("pages"),
            sa.func.sum(unit_rounds.c.bytes).label("size"),
        )
        .where(
            unit_rounds.c.agent_id == agent_id,
            unit_rounds.c.state.in_(STATES),  # all of them, for the index
            unit_rounds.c.round.in_(numbers),
        )
        .group_by(unit_rounds.c.round, unit_rounds.c.state)
    )
    return [(r.round, r.state, r.held, int(r.pages), int(r.size)) for r in rows]


def progress_by_agent(tx: Transaction, number: int) -> list[tuple[int, str, int, int, int]]:
    """Return (agent, state, units, pages, bytes) of a round."""
    rows = tx.execute(
        sa.select(
            unit_rounds.c.agent_id,
            unit_rounds.c.state,
            sa.func.count().label("held"),
            sa.func.sum(unit_rounds.c.pages).label("pages"),
            sa.func.sum(unit_rounds.c.bytes).label("size"),
        )
        .where(unit_rounds.c.round == number)
        .group_by(unit_rounds.c.agent_id, unit_rounds.c.state)
        .order_by(unit_rounds.c.agent_id, unit_rounds.c.state)
    )
    return [(r.agent_id, r.state, r.held, int(r.pages), int(r.size)) for r in rows]
