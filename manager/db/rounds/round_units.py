"""The units of a round: waiting -> granted -> finished or failed, or cancelled."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import sqlalchemy as sa

from manager.db.hosts.pieces import beside_pieces
from manager.db.ownership.pins import not_banned
from manager.db.ownership.rights import may_crawl
from manager.db.tables import (
    agents,
    assignments,
    host_splits,
    hosts,
    rights,
    unit_rounds,
    units,
)
from manager.db.transaction import Transaction, any_of, chunks
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "FinishedRow",
    "WaitingUnit",
    "agents_waiting",
    "any_unfinished",
    "begun",
    "cancel_units",
    "carry_all",
    "carry_into",
    "counts_of",
    "drop_waiting",
    "ended_among",
    "enter",
    "enter_all",
    "enter_ended",
    "failures_by_agent",
    "finish_units",
    "finished_by",
    "finishers",
    "hand_over",
    "progress_by_agent",
    "progress_of_agent",
    "set_granted",
    "under_way",
    "waiting_for",
]

STATES: Final = ("waiting", "granted", "finished", "cancelled", "failed", "carried")
OVER: Final = ("finished", "failed")
UNFINISHED: Final = ("waiting", "granted")


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
    rows = [{"unit_id": unit, "agent_id": agent} for unit, agent in owners.items()]
    tx.insert_new(unit_rounds, [{"round": number, "state": "waiting", **row} for row in rows])
    cancelled = unit_rounds.c.round == number, unit_rounds.c.state == "cancelled"
    tx.update_each(unit_rounds, ["unit_id"], rows, *cancelled, state="waiting", reason="")


def enter_ended(
    tx: Transaction, number: int, unit_ids: Collection[int], agent_id: int, ended_ms: int
) -> None:
    """Enter units into a round that has them behind it, as parts of another unit."""
    ended = {"round": number, "agent_id": agent_id, "state": "finished", "finished_ms": ended_ms}
    tx.insert_new(unit_rounds, [{**ended, "unit_id": unit} for unit in unit_ids])


def hand_over(tx: Transaction, number: int, owners: Mapping[int, int]) -> None:
    """Pass unfinished units to their new owners; they wait for a right again."""
    of_round = unit_rounds.c.round == number
    if not (owners and tx.exists(of_round)):
        return
    other = unit_rounds.c.agent_id != sa.bindparam("new_agent_id")
    unfinished = any_of(unit_rounds.c.state, "waiting", "granted")
    rows = [{"unit_id": unit, "agent_id": agent} for unit, agent in owners.items()]
    waiting = {"state": "waiting", "quiet_ms": None}
    tx.update_each(unit_rounds, ["unit_id"], rows, of_round, other, unfinished, **waiting)


def carry_all(tx: Transaction, number: int, now_ms: int) -> int:
    """Take what is not finished out of a round, whose deadline came; return how many units."""
    return tx.changed(
        unit_rounds.update()
        .where(unit_rounds.c.round == number, unit_rounds.c.state.in_(UNFINISHED))
        .values(state="carried", finished_ms=now_ms, quiet_ms=None)
    )


def carry_into(tx: Transaction, number: int, owners: Mapping[int, int]) -> None:
    """Enter units into a round in which their agents continue with them."""
    rows = [{"unit_id": unit, "agent_id": agent} for unit, agent in owners.items()]
    tx.insert_new(unit_rounds, [{"round": number, "state": "granted", **row} for row in rows])
    waiting = unit_rounds.c.round == number, unit_rounds.c.state == "waiting"
    tx.update_each(unit_rounds, ["unit_id"], rows, *waiting, state="granted")


def drop_waiting(tx: Transaction, number: int) -> None:
    """Forget the units of a round that no agent has a right to; it enters them when it crawls."""
    tx.execute(
        unit_rounds.delete().where(unit_rounds.c.round == number, unit_rounds.c.state == "waiting")
    )


def counts_of(tx: Transaction, number: int) -> dict[str, int]:
    """Return how many units of a round are in each state."""
    c = unit_rounds.c
    query = sa.select(c.state, sa.func.count()).where(c.round == number).group_by(c.state)
    return dict(tx.tuples(query))


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

    Units of hosts that the agent never gets are left out, those that no plain agent can have, those
    that a round before has not finished, and those of a host that is to be split or merged first.
    """
    former = unit_rounds.alias("former")
    return tx.rows(
        WaitingUnit,
        sa.select(unit_rounds.c.unit_id, hosts.c.group_id)
        .join(units, units.c.id == unit_rounds.c.unit_id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(
            unit_rounds.c.agent_id == agent_id,
            unit_rounds.c.state == "waiting",
            unit_rounds.c.round == number,
            ~sa.exists().where(  # in a round before
                former.c.unit_id == unit_rounds.c.unit_id,
                former.c.round < number,
                former.c.state.in_(UNFINISHED),
            ),
            may_crawl(agent_id, unit_rounds.c.unit_id),
            not_banned(agent_id, hosts.c.id),
            ~_to_be_split(),
            sa.not_(beside_pieces()) if is_plain else sa.true(),
        )
        .order_by(unit_rounds.c.unit_id)
        .limit(limit),
    )


def _to_be_split() -> sa.ColumnElement[bool]:
    """Return the condition that a host (over `hosts`) has an order, and no crawl of it runs."""
    ordered = sa.exists().where(
        host_splits.c.host_id == hosts.c.id, host_splits.c.ordered.is_not(None)
    )
    runs = sa.exists().where(rights.c.group_id == hosts.c.group_id, rights.c.kind == "crawl")
    return sa.and_(ordered, ~runs)


def set_granted(tx: Transaction, number: int, unit_ids: Collection[int]) -> None:
    """Note that the owners of units were given the right to crawl them."""
    granting = unit_rounds.update().where(unit_rounds.c.round == number).values(state="granted")
    tx.changed_among(granting, unit_rounds.c.unit_id, unit_ids)


def finish_units(tx: Transaction, finished: Sequence[FinishedRow], now_ms: int) -> None:
    """Record that agents crawled units to their end, whatever their present owners."""
    rows = [
        {
            "round": row.round,
            "unit_id": row.unit_id,
            "agent_id": row.agent_id,
            "state": "failed" if row.failure else "finished",
            "pages": row.pages,
            "bytes": row.size_bytes,
            "reason": row.reason,
            "failure": row.failure,
        }
        for row in finished
    ]
    # A claim may have been on its way when its unit was carried over.
    unfinished = any_of(unit_rounds.c.state, "waiting", "granted", "carried")
    tx.update_each(unit_rounds, ("round", "unit_id"), rows, unfinished, finished_ms=now_ms)


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
    else:
        tx.changed_among(cancelling, unit_rounds.c.unit_id, unit_ids)


def under_way(tx: Transaction, number: int, unit_ids: Collection[int]) -> bool:
    """Return whether a round is crawling any of some units."""
    c = unit_rounds.c
    granted = c.round == number, c.state == "granted"
    return any(tx.exists(*granted, c.unit_id.in_(part)) for part in chunks(unit_ids))


def ended_among(
    tx: Transaction, number: int, unit_ids: Collection[int]
) -> list[tuple[int, int, int]]:
    """Return (unit, agent, when it ended) of those of some units that a round has crawled."""
    c = unit_rounds.c
    ended = sa.select(c.unit_id, c.agent_id, sa.func.coalesce(c.finished_ms, 0))
    query = ended.where(c.round == number, c.state.in_(OVER))
    return [(row[0], row[1], row[2]) for row in tx.among(query, c.unit_id, unit_ids)]


def any_unfinished(tx: Transaction, number: int) -> bool:
    """Return whether a unit of a round is still to be crawled."""
    unfinished = unit_rounds.c.state.in_(("waiting", "granted"))
    return tx.exists(unit_rounds.c.round == number, unfinished)


def begun(tx: Transaction, number: int, unit_ids: Collection[int]) -> set[int]:
    """Return those of some units whose crawl in a round has begun, as they do not wait for it."""
    c = unit_rounds.c
    query = sa.select(c.unit_id).where(c.round == number, c.state.in_(("granted", *OVER)))
    return set(tx.values_among(query, c.unit_id, unit_ids))


def finished_by(tx: Transaction, number: int, agent_id: int) -> list[int]:
    """Return the units that an agent finished in a round."""
    c = unit_rounds.c
    query = sa.select(c.unit_id).where(c.round == number, c.agent_id == agent_id)
    return tx.values(query.where(c.state == "finished").order_by(c.unit_id))


def finishers(tx: Transaction, number: int) -> dict[int, int]:
    """Return the agents that ended units of a round, and when each ended its last."""
    c = unit_rounds.c
    query = sa.select(c.agent_id, sa.func.max(c.finished_ms)).group_by(c.agent_id)
    return dict(tx.tuples(query.where(c.round == number, c.state.in_((*OVER, "carried")))))


def failures_by_agent(tx: Transaction, number: int) -> list[tuple[int, str, int]]:
    """Return (agent, failure, units) of the units of a round that failed."""
    c, failed = unit_rounds.c, sa.func.count().label("n")
    query = sa.select(c.agent_id, c.failure, failed).group_by(c.agent_id, c.failure)
    failures = query.where(c.round == number, c.state == "failed")
    return tx.tuples(failures.order_by(c.agent_id, failed.desc(), c.failure))


def progress_of_agent(
    tx: Transaction, agent_id: int, numbers: Collection[int]
) -> list[tuple[int, str, int, int, int]]:
    """Return (round, state, units, pages, bytes) of an agent in some rounds."""
    c = unit_rounds.c
    every_state = c.state.in_(STATES)  # for the index
    return _progress(tx, c.round, c.agent_id == agent_id, every_state, c.round.in_(numbers))


def progress_by_agent(tx: Transaction, number: int) -> list[tuple[int, str, int, int, int]]:
    """Return (agent, state, units, pages, bytes) of a round."""
    return _progress(tx, unit_rounds.c.agent_id, unit_rounds.c.round == number)


def _progress(
    tx: Transaction, by: sa.Column[int], *where: sa.ColumnElement[bool]
) -> list[tuple[int, str, int, int, int]]:
    """Return (by, state, units, pages, bytes) of units of rounds, in order."""
    c = unit_rounds.c
    query = sa.select(by, c.state, sa.func.count(), sa.func.sum(c.pages), sa.func.sum(c.bytes))
    rows = tx.tuples(query.where(*where).group_by(by, c.state).order_by(by, c.state))
    return [(key, state, held, int(pages), int(size)) for key, state, held, pages, size in rows]
