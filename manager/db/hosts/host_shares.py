"""Hosts whose pieces are with several agents: their shares, and what one was told to wait.

A host is split while it has a directory that is a unit (`pieces`), and shared while its pieces may
be with several agents. When it is either is left to operations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from manager.db.tables import (
    agents,
    assignments,
    host_rests,
    hosts,
    rights,
    unit_rounds,
    units,
)
from manager.db.transaction import Transaction, chunks
from shared.frozen import frozen, values_of

__all__ = [
    "BackoffRow",
    "SplitHost",
    "any_backoff_over",
    "begin",
    "crowded_groups",
    "drop_backoffs",
    "end",
    "hosts_held",
    "news",
    "rests",
    "set_backoff",
    "set_interval",
    "set_shares",
    "split_hosts",
    "starved",
    "wanted_shares",
]

_PIECE = sa.and_(units.c.path != "/", units.c.merged_ms.is_(None))
_OWNED = sa.and_(assignments.c.unit_id == units.c.id, assignments.c.until_ms.is_(None))


@frozen
class SplitHost:
    """A host in pieces. interval_ms None: one agent has them all. shares: agents at once."""

    host_id: int
    group_id: int | None
    interval_ms: int | None
    shares: int


@frozen
class BackoffRow:
    """A host told an agent to wait: so long after each request, until a moment."""

    host_id: int
    agent_id: int
    rest_ms: int
    until_ms: int
    reason: str


_SPLIT: Final = sa.select(
    hosts.c.id.label("host_id"),
    hosts.c.group_id,
    hosts.c.shared_interval_ms.label("interval_ms"),
    hosts.c.shares,
)
_STARVED: Final = (
    _SPLIT.distinct()
    .join(units, units.c.host_id == hosts.c.id)
    .join(unit_rounds, unit_rounds.c.unit_id == units.c.id)
    .where(
        hosts.c.shared_interval_ms.is_not(None),
        unit_rounds.c.round == sa.bindparam("round"),
        unit_rounds.c.state == "waiting",
        ~sa.exists().where(
            rights.c.group_id == hosts.c.group_id, rights.c.agent_id == unit_rounds.c.agent_id
        ),
    )
)
_ANY_REST_OVER: Final = sa.select(
    sa.exists().where(host_rests.c.until_ms <= sa.bindparam("now_ms"))
)


def split_hosts(tx: Transaction, host_ids: Collection[int]) -> dict[int, SplitHost]:
    """Return those of some hosts that are split."""
    query = _SPLIT.where(sa.exists().where(units.c.host_id == hosts.c.id, _PIECE))
    return {row.host_id: row for row in tx.rows_among(SplitHost, query, hosts.c.id, host_ids)}


def begin(tx: Transaction, host_id: int, interval_ms: int) -> None:
    """Share a host: its pieces may belong to several agents."""
    tx.execute(
        hosts.update().where(hosts.c.id == host_id).values(shared_interval_ms=interval_ms, shares=0)
    )


def end(tx: Transaction, host_ids: Collection[int]) -> None:
    """End the sharing of hosts: one agent at a time has the rest of their pieces."""
    unshared = hosts.update().values(shared_interval_ms=None, shares=0)
    tx.changed_among(unshared, hosts.c.id, host_ids)
    tx.changed_among(host_rests.delete(), host_rests.c.host_id, host_ids)


def crowded_groups(tx: Transaction, group_ids: Collection[int]) -> dict[int, list[int]]:
    """Return the shared hosts of those groups that hold another host too, by group."""
    found: dict[int, list[int]] = defaultdict(list)
    other = hosts.alias("other")
    beside = sa.exists().where(other.c.group_id == hosts.c.group_id, other.c.id != hosts.c.id)
    shared = hosts.c.shared_interval_ms.is_not(None)
    query = sa.select(hosts.c.id, hosts.c.group_id).where(shared, beside)
    for row in tx.among(query, hosts.c.group_id, group_ids):
        found[row.group_id].append(row.id)
    return dict(found)


def hosts_held(tx: Transaction, agent_id: int, host_ids: Collection[int]) -> set[int]:
    """Return those of some hosts of which an agent has a right."""
    query = sa.select(units.c.host_id).join(rights, rights.c.unit_id == units.c.id)
    held = query.where(rights.c.agent_id == agent_id)
    return set(tx.values_among(held, units.c.host_id, host_ids))


def starved(tx: Transaction, round_number: int) -> list[SplitHost]:
    """Return shared hosts with a piece that waits for its owner, which has no right there yet."""
    return tx.rows(SplitHost, _STARVED, {"round": round_number})


def wanted_shares(tx: Transaction, host: SplitHost) -> tuple[int, list[int]]:
    """Return how many agents own or hold pieces of a host, and the units that are held."""
    owners = tx.values(
        sa.select(assignments.c.agent_id)
        .join(units, _OWNED)
        .where(units.c.host_id == host.host_id)
        .distinct()
    )
    held = tx.execute(
        sa.select(rights.c.unit_id, rights.c.agent_id).where(rights.c.group_id == host.group_id)
    ).all()
    return len({*owners, *(row.agent_id for row in held)}), [row.unit_id for row in held]


def set_shares(tx: Transaction, host_id: int, shares: int) -> None:
    """Set how many agents share a host, as the next lists say."""
    tx.execute(hosts.update().where(hosts.c.id == host_id).values(shares=shares))


def set_interval(tx: Transaction, host_id: int, interval_ms: int) -> None:
    """Set the pause of a shared host, as the next lists say."""
    tx.execute(hosts.update().where(hosts.c.id == host_id).values(shared_interval_ms=interval_ms))


def news(tx: Transaction, unit_ids: Collection[int]) -> None:
    """Mark units whose news the next list of their holders must carry."""
    for part in chunks(unit_ids):
        held = sa.and_(rights.c.unit_id.in_(part), rights.c.withdrawn_generation.is_(None))
        following = (
            sa.select(agents.c.generation + 1)
            .where(agents.c.id == rights.c.agent_id)
            .scalar_subquery()
        )
        touched = tx.values(sa.select(rights.c.agent_id).where(held).distinct())
        if touched:
            tx.execute(rights.update().where(held).values(news_generation=following))
            tx.execute(agents.update().where(agents.c.id.in_(touched)).values(list_changed=True))


def rests(tx: Transaction, host_ids: Collection[int], now_ms: int) -> list[BackoffRow]:
    """Return what agents were told by some hosts and is not over."""
    query = sa.select(host_rests).where(host_rests.c.until_ms > now_ms)
    return tx.rows_among(BackoffRow, query, host_rests.c.host_id, host_ids)


def set_backoff(tx: Transaction, row: BackoffRow) -> None:
    """Write down what a host told an agent."""
    tx.upsert(host_rests, [values_of(row)], ["host_id", "agent_id"])


def any_backoff_over(tx: Transaction, now_ms: int) -> bool:
    """Return whether a rest is over that the lists still speak of."""
    return bool(tx.value(_ANY_REST_OVER, {"now_ms": now_ms}))


def drop_backoffs(tx: Transaction, now_ms: int) -> list[int]:
    """Forget what is over; return the units of these hosts."""
    is_over = host_rests.c.until_ms <= now_ms
    over = tx.values(sa.select(host_rests.c.host_id).where(is_over).distinct())
    if not over:
        return []
    tx.execute(host_rests.delete().where(is_over))
    return tx.values(sa.select(units.c.id).where(units.c.host_id.in_(over)))
