"""Addresses of hosts, and the groups of hosts that share one.

A group's number is the smallest host id in it, so merging two groups keeps the smaller number.
Which groups must become one is decided by `manager.assignment.groups`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import sqlalchemy as sa

from manager.db.tables import host_addresses, hosts, rights, units
from manager.db.transaction import Transaction
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "MANAGER",
    "DueHost",
    "NameRow",
    "addresses_of",
    "count_of_group",
    "due",
    "due_count",
    "groups_at",
    "groups_of",
    "hosts_of_group",
    "keys_of",
    "make_due",
    "merge_groups",
    "name_counts",
    "names_of",
    "numbers_of_group",
    "resolutions",
    "set_addresses",
    "set_resolution",
    "unresolved",
]

MANAGER = 0
"""The source of addresses that the manager resolved; other sources are agents' numbers."""


@frozen
class DueHost:
    """A host whose name is to be resolved."""

    id: int
    key: str


@frozen
class NameRow:
    """The result of a host's last look-up. failure: "": it did not fail, or there was none."""

    id: int
    key: str
    resolution: str
    failure: str
    problem: Message | None


_NAMES: Final = sa.select(
    hosts.c.id,
    hosts.c.key,
    hosts.c.resolution,
    hosts.c.resolve_failure.label("failure"),
    hosts.c.resolve_problem.label("problem"),
)


def due(tx: Transaction, now_ms: int, limit: int) -> list[DueHost]:
    """Return hosts that are to be resolved now, the longest waiting first."""
    return tx.rows(
        DueHost,
        sa.select(hosts.c.id, hosts.c.key)
        .where(hosts.c.resolve_after_ms <= now_ms)
        .order_by(hosts.c.resolve_after_ms)
        .limit(limit),
    )


def due_count(tx: Transaction, now_ms: int, most: int) -> int:
    """Return how many hosts are to be resolved now, counting up to `most`."""
    waiting = sa.select(hosts.c.id).where(hosts.c.resolve_after_ms <= now_ms).limit(most)
    return tx.count(waiting.subquery())


def resolutions(tx: Transaction, host_ids: Collection[int]) -> dict[int, tuple[str, int]]:
    """Return (resolution, failures so far) of some hosts; those that do not exist are left out."""
    query = sa.select(hosts.c.id, hosts.c.resolution, hosts.c.resolve_failures)
    rows = tx.among(query, hosts.c.id, host_ids)
    return {row.id: (row.resolution, row.resolve_failures) for row in rows}


def set_resolution(
    tx: Transaction, rows: Sequence[Mapping[str, int | str | Message | None]]
) -> None:
    """Write down how resolving went: rows of host, to, at_ms, after_ms, failures, why,
    failure.
    """
    if rows:
        tx.execute(
            hosts.update()
            .where(hosts.c.id == sa.bindparam("host"))
            .values(
                resolution=sa.bindparam("to"),
                resolved_ms=sa.func.coalesce(sa.bindparam("at_ms"), hosts.c.resolved_ms),
                resolve_after_ms=sa.bindparam("after_ms"),
                resolve_failures=sa.bindparam("failures"),
                resolve_problem=sa.bindparam("why"),
                resolve_failure=sa.bindparam("failure"),
            ),
            [dict(row) for row in rows],
        )


def make_due(tx: Transaction, now_ms: int, host_ids: Collection[int] | None = None) -> int:
    """Schedule look-ups of some hosts' names for now; return how many.

    None: of all hosts whose last look-up brought no address. Those that are excluded are left out.
    """
    asked = hosts.update().where(hosts.c.excluded_ms.is_(None)).values(resolve_after_ms=now_ms)
    if host_ids is None:
        return tx.changed(asked.where(hosts.c.resolve_failure != ""))
    return tx.changed_among(asked, hosts.c.id, host_ids)


def name_counts(tx: Transaction, *, failed: bool = False) -> list[tuple[str, str, int]]:
    """Return (resolution, failure of the last look-up, hosts) of hosts that are not excluded.

    failed: only of those whose last look-up failed: they have an index.
    """
    ways = hosts.c.resolution, hosts.c.resolve_failure
    query = sa.select(*ways, sa.func.count()).where(hosts.c.excluded_ms.is_(None)).group_by(*ways)
    return tx.tuples(query.where(hosts.c.resolve_failure != "") if failed else query)


def unresolved(tx: Transaction, failure: str, limit: int) -> list[NameRow]:
    """Return some hosts whose last look-up failed in one way, the oldest first."""
    failed = hosts.c.resolve_failure != "", hosts.c.resolve_failure == failure
    query = _NAMES.where(*failed, hosts.c.excluded_ms.is_(None))
    return tx.rows(NameRow, query.order_by(hosts.c.id).limit(limit))


def names_of(tx: Transaction, keys: Collection[str]) -> list[NameRow]:
    """Return how the look-ups of some hosts went; those that do not exist are left out."""
    return tx.rows_among(NameRow, _NAMES, hosts.c.key, keys)


def set_addresses(
    tx: Transaction,
    source: int,
    addresses: Mapping[int, Collection[str]],
    domains: Mapping[int, str],
) -> None:
    """Replace what one source says of some hosts. domains: the registrable domain of each."""
    of_source = host_addresses.delete().where(host_addresses.c.source == source)
    tx.changed_among(of_source, host_addresses.c.host_id, addresses)
    tx.insert(
        host_addresses,
        [
            {
                "host_id": host,
                "source": source,
                "address": address,
                "domain": domains.get(host, ""),
            }
            for host, found in addresses.items()
            for address in sorted(set(found))
        ],
    )


def groups_at(
    tx: Transaction, addresses: Collection[str], but: Collection[int] = ()
) -> dict[str, int]:
    """Return the group at each of some addresses, where any source has seen a host there.

    Hosts at one address are in one group, so any of them tells it; addresses that many sites share
    are asked for by `address_rules.groups_at_domains`. but: hosts that are not asked.
    """
    seen = host_addresses.alias("seen")
    group = (
        sa.select(hosts.c.group_id)
        .join(host_addresses, host_addresses.c.host_id == hosts.c.id)
        .where(host_addresses.c.address == seen.c.address, hosts.c.group_id.is_not(None))
        .where(hosts.c.id.not_in(list(but)))
        .limit(1)
        .correlate(seen)
        .scalar_subquery()
    )
    query = sa.select(seen.c.address, group.label("group_id")).distinct()
    rows = tx.among(query, seen.c.address, addresses)
    return {row.address: row.group_id for row in rows if row.group_id is not None}


def groups_of(tx: Transaction, host_ids: Collection[int]) -> dict[int, int | None]:
    """Return the group of each of some hosts, None where it has none yet."""
    return dict(tx.among(sa.select(hosts.c.id, hosts.c.group_id), hosts.c.id, host_ids))


def keys_of(tx: Transaction, host_ids: Collection[int]) -> dict[int, str]:
    """Return the keys of some hosts."""
    return dict(tx.among(sa.select(hosts.c.id, hosts.c.key), hosts.c.id, host_ids))


def merge_groups(tx: Transaction, merges: Mapping[int, int], alone: Mapping[int, int]) -> None:
    """Give hosts their group. merges: old group to new. alone: host without a group to its group.

    The rights of a group's units go with it.
    """
    for table in (hosts, rights):
        if merges:
            tx.execute(
                table.update()
                .where(table.c.group_id == sa.bindparam("old"))
                .values(group_id=sa.bindparam("new")),
                [{"old": old, "new": new} for old, new in merges.items()],
            )
    tx.update_each(hosts, ["id"], [{"id": host, "group_id": new} for host, new in alone.items()])
    waking = units.update().where(units.c.state == "new").values(state="idle")
    tx.changed_among(waking, units.c.host_id, alone)


def addresses_of(tx: Transaction, host_id: int) -> list[tuple[int, str]]:
    """Return (source, address) of a host."""
    said = host_addresses.c.source, host_addresses.c.address
    mine = host_addresses.c.host_id == host_id
    return tx.tuples(sa.select(*said).where(mine).order_by(*said))


def hosts_of_group(tx: Transaction, group_id: int | None, limit: int) -> list[str]:
    """Return the keys of hosts of a group, by key; none for no group."""
    if group_id is None:
        return []
    beside = hosts.c.group_id == group_id
    return tx.values(sa.select(hosts.c.key).where(beside).order_by(hosts.c.key).limit(limit))


def numbers_of_group(tx: Transaction, group_id: int | None) -> list[int]:
    """Return the numbers of all hosts of a group, by key; none for no group."""
    if group_id is None:
        return []
    beside = hosts.c.group_id == group_id
    return tx.values(sa.select(hosts.c.id).where(beside).order_by(hosts.c.key))


def count_of_group(tx: Transaction, group_id: int | None) -> int:
    """Return how many hosts are of a group; 0 for no group."""
    return 0 if group_id is None else tx.count(hosts, hosts.c.group_id == group_id)
