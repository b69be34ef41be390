"""Rules of addresses that many sites share, and the seats of agents there.

Only addresses that are or were shared, or of which a person decided, have a row. A rule has the
number of its last change; an agent says up to which number it has heard (`agents.shared_held`).
Invariant: an agent is given rights of a host only with a seat at each of its shared addresses, and
when it has heard that an address is shared no longer (`manager.db.ownership.address_seats`). Who
gets one is decided by `manager.operations.hosts.address_rules`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import (
    address_rules,
    address_seats,
    agents,
    host_addresses,
    hosts,
    probe_orders,
    refetch_orders,
    rights,
    unit_rounds,
    units,
)
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "AddressRule",
    "SeatRow",
    "any_shared",
    "changed_after",
    "domain_counts",
    "domains_up_to",
    "due_for_count",
    "edges_of_hosts",
    "groups_at_domains",
    "heard",
    "holders_at",
    "hosts_at",
    "hosts_of_groups",
    "newest_number",
    "of_addresses",
    "of_rule",
    "put",
    "regroup",
    "remove_seats",
    "seats",
    "set_seats",
    "stale",
    "waiting_at",
]

_SPLIT_RULES: Final = ("shared", "merging")


@frozen
class AddressRule:
    """A row: see `manager.db.tables.hosts.address_rules`."""

    address: str
    rule: str
    reason: str
    decided: str
    decided_by: str
    domains: int
    least_ms: int
    shares: int
    number: int
    changed_ms: int | None
    counted_ms: int | None
    is_stale: bool


@frozen
class SeatRow:
    """An agent that may be given rights at a shared address."""

    address: str
    agent_id: int
    since_ms: int


_ANY_SHARED: Final = sa.select(sa.exists().where(address_rules.c.rule.in_(_SPLIT_RULES)))


def any_shared(tx: Transaction) -> bool:
    """Return whether an address is shared, or was a moment ago."""
    return bool(tx.value(_ANY_SHARED))


def of_addresses(tx: Transaction, addresses: Collection[str]) -> dict[str, AddressRule]:
    """Return the rules of some addresses; those without a row are left out."""
    query = sa.select(address_rules)
    found = tx.rows_among(AddressRule, query, address_rules.c.address, addresses)
    return {row.address: row for row in found}


def of_rule(tx: Transaction, *rules: str) -> list[AddressRule]:
    """Return the addresses under some rules, by address."""
    query = sa.select(address_rules).where(address_rules.c.rule.in_(rules))
    return tx.rows(AddressRule, query.order_by(address_rules.c.address))


def newest_number(tx: Transaction) -> int:
    """Return the number of the newest change; 0: there was none."""
    return int(tx.value(sa.select(sa.func.max(address_rules.c.number))) or 0)


def changed_after(tx: Transaction, number: int, limit: int) -> list[AddressRule]:
    """Return the rules that changed after a number, the oldest change first."""
    query = sa.select(address_rules).where(address_rules.c.number > number)
    return tx.rows(AddressRule, query.order_by(address_rules.c.number).limit(limit))


def put(tx: Transaction, address: str, **values: Any) -> None:
    """Write columns of the row of an address, a new one where there was none."""
    if tx.changed(
        address_rules.update().where(address_rules.c.address == address).values(**values)
    ):
        return
    tx.insert(address_rules, [{"address": address, **values}])


def stale(tx: Transaction, addresses: Collection[str]) -> None:
    """Note that hosts of other domains may have come to shared addresses."""
    touched = address_rules.update().values(is_stale=True)
    tx.changed_among(
        touched.where(address_rules.c.rule == "shared", address_rules.c.is_stale.is_(False)),
        address_rules.c.address,
        addresses,
    )


def due_for_count(
    tx: Transaction, stale_before_ms: int, before_ms: int, limit: int
) -> list[AddressRule]:
    """Return shared addresses of which the domains are to be counted.

    Those to which hosts came, if that was not done since stale_before_ms; others since before_ms.
    """
    counted = sa.func.coalesce(address_rules.c.counted_ms, 0)
    is_due = sa.or_(
        counted < before_ms,
        sa.and_(address_rules.c.is_stale.is_(True), counted < stale_before_ms),
    )
    query = sa.select(address_rules).where(address_rules.c.rule == "shared", is_due)
    return tx.rows(AddressRule, query.order_by(counted).limit(limit))


def domains_up_to(tx: Transaction, address: str, most: int) -> int:
    """Return how many registrable domains the hosts of an address have, counting up to `most`.

    Each costs a look-up, however many hosts it has.
    """
    if (
        tx.count(
            sa.select(sa.literal(1))
            .where(host_addresses.c.address == address)
            .limit(most)
            .subquery()
        )
        < most
    ):
        return len(set(tx.values(_domains(address))))
    seen = host_addresses.alias("seen")
    first = sa.select(sa.func.min(seen.c.domain).label("domain")).where(seen.c.address == address)
    found = first.cte("found", recursive=True)
    behind = (
        sa.select(sa.func.min(seen.c.domain))
        .where(seen.c.address == address, seen.c.domain > found.c.domain)
        .scalar_subquery()
    )
    found = found.union_all(sa.select(behind).where(found.c.domain.is_not(None)))
    few = sa.select(found.c.domain).where(found.c.domain.is_not(None)).limit(most)
    return len(tx.values(few))


def _domains(address: str) -> sa.Select[tuple[str]]:
    return sa.select(host_addresses.c.domain).where(host_addresses.c.address == address)


def domain_counts(tx: Transaction, addresses: Collection[str]) -> dict[str, int]:
    """Return how many registrable domains the hosts of some addresses have."""
    distinct = sa.func.count(host_addresses.c.domain.distinct())
    query = sa.select(host_addresses.c.address, distinct).group_by(host_addresses.c.address)
    return dict(tx.among(query, host_addresses.c.address, addresses))


def groups_at_domains(
    tx: Transaction, wanted: Collection[tuple[str, str]], but: Collection[int] = ()
) -> dict[tuple[str, str], int]:
    """Return the group of a registrable domain at a shared address, where a host is there.

    but: hosts that are not asked.
    """
    found: dict[tuple[str, str], int] = {}
    for address, domain in wanted:
        group = tx.value(
            sa.select(hosts.c.group_id)
            .join(host_addresses, host_addresses.c.host_id == hosts.c.id)
            .where(
                host_addresses.c.address == address,
                host_addresses.c.domain == domain,
                hosts.c.group_id.is_not(None),
                hosts.c.id.not_in(list(but)),
            )
            .limit(1)
        )
        if group is not None:
            found[address, domain] = group
    return found


def hosts_at(tx: Transaction, addresses: Collection[str]) -> set[int]:
    """Return all hosts at some addresses, whoever saw them there."""
    query = sa.select(host_addresses.c.host_id).distinct()
    return set(tx.values_among(query, host_addresses.c.address, addresses))


def hosts_of_groups(tx: Transaction, group_ids: Collection[int]) -> list[int]:
    """Return the hosts of some groups."""
    return tx.values_among(sa.select(hosts.c.id), hosts.c.group_id, group_ids)


def edges_of_hosts(tx: Transaction, host_ids: Collection[int]) -> list[tuple[int, str, str]]:
    """Return (host, address, domain) of some hosts, by whomever they were seen there."""
    query = sa.select(
        host_addresses.c.host_id, host_addresses.c.address, host_addresses.c.domain
    ).distinct()
    return [
        (row.host_id, row.address, row.domain)
        for row in tx.among(query, host_addresses.c.host_id, host_ids)
    ]


def regroup(tx: Transaction, group_of: Mapping[int, int]) -> None:
    """Set the groups of hosts; the rights of their units go with them."""
    rows = [{"id": host, "group_id": group} for host, group in group_of.items()]
    tx.update_each(hosts, ["id"], rows)
    held = sa.select(rights.c.unit_id, units.c.host_id).join(units, units.c.id == rights.c.unit_id)
    tx.update_each(
        rights,
        ["unit_id"],
        [
            {"unit_id": row.unit_id, "group_id": group_of[row.host_id]}
            for row in tx.among(held, units.c.host_id, group_of)
        ],
    )


def holders_at(tx: Transaction, addresses: Collection[str]) -> dict[str, set[int]]:
    """Return the agents that have rights at each of some addresses."""
    found: dict[str, set[int]] = {address: set() for address in addresses}
    query = (
        sa.select(host_addresses.c.address, rights.c.agent_id)
        .join(units, units.c.host_id == host_addresses.c.host_id)
        .join(rights, rights.c.unit_id == units.c.id)
        .distinct()
    )
    for row in tx.among(query, host_addresses.c.address, addresses):
        found[row.address].add(row.agent_id)
    return found


def waiting_at(tx: Transaction, round_number: int | None) -> dict[str, set[int]]:
    """Return the agents for which work waits at each shared address."""
    found: dict[str, set[int]] = {}
    for orders in (probe_orders, refetch_orders, unit_rounds):
        query = (
            sa.select(host_addresses.c.address, orders.c.agent_id)
            .join(address_rules, address_rules.c.address == host_addresses.c.address)
            .join(units, units.c.host_id == host_addresses.c.host_id)
            .join(orders, orders.c.unit_id == units.c.id)
            .where(address_rules.c.rule == "shared", orders.c.state == "waiting")
            .distinct()
        )
        if orders is unit_rounds:
            query = query.where(unit_rounds.c.round == (round_number or 0))
        for row in tx.execute(query):
            found.setdefault(row.address, set()).add(row.agent_id)
    return found


def seats(tx: Transaction) -> list[SeatRow]:
    """Return all seats, those of an address by their age."""
    c = address_seats.c
    return tx.rows(SeatRow, sa.select(address_seats).order_by(c.address, c.since_ms, c.agent_id))


def set_seats(tx: Transaction, address: str, agent_ids: Iterable[int], now_ms: int) -> None:
    """Give agents seats at an address."""
    tx.insert_new(
        address_seats,
        [{"address": address, "agent_id": one, "since_ms": now_ms} for one in agent_ids],
    )


def remove_seats(tx: Transaction, address: str, agent_ids: Sequence[int]) -> None:
    """Take seats at an address back, of agents without a right there."""
    taken = address_seats.delete().where(address_seats.c.address == address)
    tx.changed_among(taken, address_seats.c.agent_id, agent_ids)


def heard(tx: Transaction) -> dict[int, int]:
    """Return up to which change each agent has heard; those that know of none are left out."""
    query = sa.select(agents.c.id, agents.c.shared_held).where(agents.c.shared_held.is_not(None))
    return dict(tx.tuples(query))
