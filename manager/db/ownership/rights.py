"""Rights to fetch units. A right passes from one agent to another only through *free*.

Invariants: at most one row a unit, which is its key; at most one agent a group, but for the pieces
of a split host; at a shared address only agents with a seat; the caller that grants ensures this
with `no_other_agent` and `may_crawl`. Only `free` deletes rows, and each leaves a row of `holdings`
behind. An unfinished order or unit of a round waits again when the right that it was worked on
under is freed.
Operations decide when a right may be freed; `tests.manager.assignment.rights_model` states the rule
of one unit, and what an agent must do for its part.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import sqlalchemy as sa

from manager.db.ownership.address_seats import may_enter
from manager.db.tables import (
    agents,
    holdings,
    hosts,
    probe_orders,
    refetch_orders,
    rights,
    unit_rounds,
)
from manager.db.transaction import Transaction, chunks
from shared.frozen import frozen, values_of
from shared.messages import Message

__all__ = [
    "Condition",
    "Grant",
    "RightCount",
    "RightRow",
    "agents_with_withdrawn",
    "begin_anew",
    "carry_over",
    "count_of",
    "crawled_now",
    "free",
    "grant",
    "held_by_agent",
    "held_of",
    "may_crawl",
    "no_other_agent",
    "note_sent",
    "of_agent",
    "of_units",
    "oldest_round",
    "set_limit",
    "units_in_groups",
    "withdraw",
    "withdraw_crawls",
    "withdraw_probes",
]

FINISHED: Final = Message("ownership.finished")
ACKNOWLEDGED: Final = Message("ownership.acknowledged")
"""Reasons of rights that ended: the unit is finished; the agent accepted a list without it."""

Condition = sa.ColumnElement[bool]
"""On the columns of `manager.db.tables.rights`; only this package makes them."""

_WITH_WITHDRAWN: Final = (
    sa.select(rights.c.agent_id)
    .where(
        rights.c.agent_id.in_(sa.bindparam("agents", expanding=True)),
        rights.c.withdrawn_generation.is_not(None),
    )
    .distinct()
)
_COUNT_OF: Final = sa.select(sa.func.count()).where(
    rights.c.agent_id == sa.bindparam("agent"), rights.c.kind == sa.bindparam("kind")
)


@frozen
class Grant:
    """A right to give."""

    unit_id: int
    group_id: int
    kind: str
    round: int
    max_transfer: int


@frozen
class RightCount:
    """The rights of a kind that an agent has. since_ms: the oldest's first list; else its grant."""

    agent_id: int
    kind: str
    rights: int
    since_ms: int


@frozen
class RightRow:
    """A right of an agent."""

    unit_id: int
    group_id: int
    agent_id: int
    kind: str
    round: int
    max_transfer: int
    granted_ms: int
    granted_generation: int
    withdrawn_generation: int | None
    news_generation: int | None
    continues: int | None


def grant(tx: Transaction, agent_id: int, grants: Sequence[Grant], now_ms: int) -> None:
    """Give rights to one agent; they stand in its next generation."""
    if not grants:
        return
    generation = int(tx.value(sa.select(agents.c.generation).where(agents.c.id == agent_id)))
    to_agent = {"agent_id": agent_id, "granted_ms": now_ms, "granted_generation": generation + 1}
    tx.insert(rights, [{**values_of(given), **to_agent} for given in grants])
    tx.execute(agents.update().where(agents.c.id == agent_id).values(list_changed=True))


def note_sent(tx: Transaction, agent_id: int, generation: int, now_ms: int) -> None:
    """Note that the list of a generation is sent; a right counts from the first that names it."""
    tx.execute(
        rights.update()
        .where(
            rights.c.agent_id == agent_id,
            rights.c.sent_ms.is_(None),
            rights.c.granted_generation <= generation,
        )
        .values(sent_ms=now_ms)
    )


def no_other_agent(agent_id: int, unit: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Return the condition that a unit has no right, and its host's group none of another agent.

    At an address that many sites share it needs a seat (`address_rules`). For queries over `hosts`.
    Three look-ups in indexes, however many units share the address, and two for each address.
    """
    in_group = sa.exists().where(rights.c.group_id == hosts.c.group_id)
    free = sa.not_(
        sa.or_(
            sa.exists().where(rights.c.unit_id == unit),
            in_group.where(rights.c.agent_id < agent_id),
            in_group.where(rights.c.agent_id > agent_id),
        )
    )
    return sa.and_(free, may_enter(agent_id))


def may_crawl(agent_id: int, unit: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Return the condition that an agent may be given a unit to crawl it.

    As `no_other_agent`, but as many agents may have pieces of a split host as have shares of its
    rate (`manager.assignment.host_shares`), if each right is known to keep the share of the current
    lists, and no agent probes it or refetches its pages. For queries over `hosts`.
    """
    in_group = sa.exists().where(rights.c.group_id == hosts.c.group_id)
    holders = (
        sa.select(sa.func.count(rights.c.agent_id.distinct()))
        .where(rights.c.group_id == hosts.c.group_id)
        .scalar_subquery()
    )
    unheard = in_group.where(
        agents.c.id == rights.c.agent_id, rights.c.news_generation > agents.c.generation_held
    )
    room = sa.or_(
        in_group.where(rights.c.agent_id == agent_id),
        sa.and_(holders < hosts.c.shares, sa.not_(unheard)),
    )
    shared = sa.and_(
        hosts.c.shared_interval_ms.is_not(None),
        sa.not_(sa.exists().where(rights.c.unit_id == unit)),
        sa.not_(in_group.where(rights.c.kind != "crawl")),
        room,
        may_enter(agent_id),
    )
    return sa.or_(no_other_agent(agent_id, unit), shared)


def withdraw(
    tx: Transaction,
    now_ms: int,
    reason: Message,
    *,
    unit_ids: Collection[int] | None = None,
    agent_id: int | None = None,
) -> None:
    """Remove rights from the next generation of their agents: of units, of an agent, or of
    units as far as the agent has them.

    They are free when the agent acknowledges that generation; those that were in no list yet
    are free at once.
    """
    for condition in _chosen(unit_ids, agent_id):
        unlisted = sa.exists().where(
            agents.c.id == rights.c.agent_id,
            agents.c.generation < rights.c.granted_generation,
        )
        _free(tx, sa.and_(condition, unlisted), now_ms, reason)
        pending = sa.and_(condition, rights.c.withdrawn_generation.is_(None))
        touched = tx.values(sa.select(rights.c.agent_id).where(pending).distinct())
        if not touched:
            continue
        following = (
            sa.select(agents.c.generation + 1)
            .where(agents.c.id == rights.c.agent_id)
            .scalar_subquery()
        )
        tx.execute(rights.update().where(pending).values(withdrawn_generation=following))
        tx.execute(agents.update().where(agents.c.id.in_(touched)).values(list_changed=True))


def carry_over(
    tx: Transaction, number: int, target: int, now_ms: int, reason: Message
) -> dict[int, int]:
    """Move crawls from one round to another with their agents; return unit to agent.

    Only agents that can be told so: the rights of the others are withdrawn. What an agent held for
    the former round becomes a row of `holdings`; the lists that name the unit stay what they are.
    """
    crawls = sa.and_(rights.c.kind == "crawl", rights.c.round == number)
    pending = sa.and_(crawls, rights.c.withdrawn_generation.is_(None))
    able = sa.select(agents.c.id).where(agents.c.unit_rounds)
    others = tx.values(sa.select(rights.c.unit_id).where(pending, rights.c.agent_id.not_in(able)))
    withdraw(tx, now_ms, reason, unit_ids=others)
    carried = dict(
        tx.tuples(
            sa.select(rights.c.unit_id, rights.c.agent_id).where(
                pending, rights.c.agent_id.in_(able)
            )
        )
    )
    chosen = sa.and_(pending, rights.c.agent_id.in_(able))
    _note_holdings(tx, chosen, now_ms, reason)
    tx.execute(
        rights.update()
        .where(chosen)
        .values(
            round=target,
            continues=sa.func.coalesce(rights.c.continues, number),
            granted_ms=now_ms,
            sent_ms=None,
        )
    )
    touched = sorted(set(carried.values()))
    for part in chunks(touched):
        tx.execute(agents.update().where(agents.c.id.in_(part)).values(list_changed=True))
    return carried


def free(
    tx: Transaction,
    now_ms: int,
    reason: Message,
    *,
    agent_id: int | None = None,
    unit_ids: Collection[int] | None = None,
    acknowledged: int | None = None,
) -> int:
    """End rights of an agent: all, of some units, or those withdrawn up to a generation.

    agent_id: None: those of some units, of any agent.
    Returns how many. Finished units must have been recorded before.
    """
    freed = 0
    for condition in _chosen(unit_ids, agent_id):
        chosen = condition
        if acknowledged is not None:
            chosen = sa.and_(condition, rights.c.withdrawn_generation <= acknowledged)
        freed += _free(tx, chosen, now_ms, reason)
    return freed


def _chosen(unit_ids: Collection[int] | None, agent_id: int | None) -> list[Condition]:
    whose = sa.true() if agent_id is None else rights.c.agent_id == agent_id
    if unit_ids is None:
        assert agent_id is not None, "all rights of all agents are never meant"
        return [whose]
    return [sa.and_(whose, rights.c.unit_id.in_(part)) for part in chunks(unit_ids)]


def _free(tx: Transaction, condition: Condition, now_ms: int, reason: Message) -> int:
    if not tx.value(sa.select(sa.exists().where(condition))):
        return 0
    for table, work, quiet in (
        (probe_orders, "probe", {}),
        (unit_rounds, "crawl", {"quiet_ms": None}),
    ):
        under = sa.exists().where(
            condition,
            rights.c.kind == work,
            rights.c.unit_id == table.c.unit_id,
            rights.c.round == table.c.round,
            rights.c.agent_id == table.c.agent_id,
        )
        chosen = sa.select(rights.c.unit_id).where(condition)
        tx.execute(
            table.update()
            .where(table.c.unit_id.in_(chosen), table.c.state == "granted", under)
            .values(state="waiting", **quiet)
        )
    _give_back_refetches(tx, condition)
    _note_holdings(tx, condition, now_ms, reason)
    return tx.changed(rights.delete().where(condition))


def _note_holdings(tx: Transaction, condition: Condition, now_ms: int, reason: Message) -> None:
    ended = {
        "unit_id": rights.c.unit_id,
        "agent_id": rights.c.agent_id,
        "kind": rights.c.kind,
        "round": rights.c.round,
        "since_ms": rights.c.granted_ms,
        "sent_ms": rights.c.sent_ms,
        "until_ms": sa.literal(now_ms, sa.BigInteger()),
        "reason": sa.literal(reason, holdings.c.reason.type),
    }
    over = sa.select(*ended.values()).where(condition)
    tx.execute(holdings.insert().from_select(list(ended), over))


def _give_back_refetches(tx: Transaction, condition: Condition) -> None:
    again = sa.exists().where(
        condition,
        rights.c.kind == "refetch",
        rights.c.unit_id == refetch_orders.c.unit_id,
        rights.c.agent_id == refetch_orders.c.agent_id,
    )
    tx.execute(
        refetch_orders.update()
        .where(
            refetch_orders.c.unit_id.in_(sa.select(rights.c.unit_id).where(condition)),
            refetch_orders.c.state == "granted",
            again,
        )
        .values(state="waiting")
    )


def agents_with_withdrawn(tx: Transaction, agent_ids: Collection[int]) -> list[int]:
    """Return those of some agents that have rights which were withdrawn and are not free yet."""
    found: list[int] = []
    for part in chunks(agent_ids):
        found += tx.values(_WITH_WITHDRAWN, {"agents": part})
    return found


def set_limit(tx: Transaction, agent_id: int, max_transfer: int) -> None:
    """Set how many pages of each unit that it crawls an agent may fetch; a new list says so."""
    tx.execute(
        rights.update()
        .where(rights.c.agent_id == agent_id, rights.c.kind == "crawl")
        .values(max_transfer=max_transfer)
    )
    tx.execute(agents.update().where(agents.c.id == agent_id).values(list_changed=True))


def lift_limit(tx: Transaction, agent_id: int) -> None:
    """Allow all pages of each unit that an agent crawls, in the list that is being made."""
    tx.execute(
        rights.update()
        .where(rights.c.agent_id == agent_id, rights.c.kind == "crawl", rights.c.max_transfer > 0)
        .values(max_transfer=0)
    )


def of_agent(tx: Transaction, agent_id: int) -> list[RightRow]:
    """Return all rights of an agent, by unit."""
    query = sa.select(rights).where(rights.c.agent_id == agent_id)
    return tx.rows(RightRow, query.order_by(rights.c.unit_id))


def of_units(tx: Transaction, unit_ids: Collection[int]) -> list[RightRow]:
    """Return the rights to some units."""
    return tx.rows_among(RightRow, sa.select(rights), rights.c.unit_id, unit_ids)


def count_of(tx: Transaction, agent_id: int, kind: str) -> int:
    """Return how many rights of a kind an agent has."""
    return int(tx.value(_COUNT_OF, {"agent": agent_id, "kind": kind}))


def begin_anew(tx: Transaction) -> None:
    """Clear what rights continue: what agents did since the backup is unknown."""
    tx.execute(rights.update().where(rights.c.continues.is_not(None)).values(continues=None))


def oldest_round(tx: Transaction, agent_id: int) -> int | None:
    """Return the oldest round of the rights of an agent, or None: it has none."""
    found = tx.value(sa.select(sa.func.min(rights.c.round)).where(rights.c.agent_id == agent_id))
    return None if found is None else int(found)


def crawled_now(tx: Transaction) -> dict[int, int]:
    """Return the units that agents crawl and keep, unit to agent."""
    query = sa.select(rights.c.unit_id, rights.c.agent_id)
    return dict(
        tx.tuples(query.where(rights.c.kind == "crawl", rights.c.withdrawn_generation.is_(None)))
    )


def withdraw_probes(tx: Transaction, number: int, now_ms: int, reason: Message) -> None:
    """Withdraw the rights to probe for a round."""
    probed = sa.and_(rights.c.round == number, rights.c.kind == "probe")
    units = tx.values(sa.select(rights.c.unit_id).where(probed))
    withdraw(tx, now_ms, reason, unit_ids=units)


def withdraw_crawls(tx: Transaction, number: int, now_ms: int, reason: Message) -> None:
    """Withdraw the rights of a round, of whichever kind but refetches."""
    of_round = sa.and_(rights.c.round == number, rights.c.kind != "refetch")
    units = tx.values(sa.select(rights.c.unit_id).where(of_round))
    withdraw(tx, now_ms, reason, unit_ids=units)


def held_by_agent(tx: Transaction) -> list[RightCount]:
    """Return what rights of each kind each agent has; those without any are left out."""
    return tx.rows(RightCount, _held())


def held_of(tx: Transaction, agent_id: int) -> list[RightCount]:
    """Return what rights of each kind one agent has."""
    return tx.rows(RightCount, _held().where(rights.c.agent_id == agent_id))


def _held() -> sa.Select[tuple[int, str, int, int]]:
    c = rights.c
    return sa.select(
        c.agent_id,
        c.kind,
        sa.func.count().label("rights"),
        sa.func.min(sa.func.coalesce(c.sent_ms, c.granted_ms)).label("since_ms"),
    ).group_by(c.agent_id, c.kind)


def units_in_groups(tx: Transaction, group_ids: Collection[int]) -> list[RightRow]:
    """Return all rights in some groups."""
    return tx.rows_among(RightRow, sa.select(rights), rights.c.group_id, group_ids)
