"""Hosts and their units: adding them, finding them by key, listing them for people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from manager.db.tables import assignments, hosts, units
from manager.db.transaction import Transaction
from manager.message_fields import message_fields
from shared.frozen import frozen, values_of
from shared.messages import Message

__all__ = [
    "HostRow",
    "NewHost",
    "UnitRow",
    "add_hosts",
    "any_in_state",
    "any_unresolved_since",
    "by_ids",
    "by_key",
    "change_state",
    "count_in_state",
    "excluded_among",
    "finders",
    "ids_of_units",
    "in_state",
    "set_excluded",
    "set_unit_state",
    "set_volume",
    "tops_among",
    "units_by_id",
    "units_of_hosts",
    "unplaced_to_idle",
]


@frozen
class NewHost:
    """A host to add: its key, the key that sorts it beside its domain, who found it where."""

    key: str
    reversed_key: str
    found_by: int | None
    referer: str | None


@message_fields
@frozen
class HostRow:
    """All that is kept of a host itself."""

    id: int
    key: str
    reversed_key: str
    found_by: int | None
    referer: str | None
    first_seen_ms: int
    excluded_ms: int | None
    excluded_reason: str
    resolution: str
    resolved_ms: int | None
    resolve_after_ms: int | None
    resolve_failures: int
    resolve_problem: Message | None
    resolve_failure: str
    group_id: int | None
    shared_interval_ms: int | None
    shares: int


@frozen
class UnitRow:
    """A unit: a host (path `/`) or a directory of it."""

    id: int
    host_id: int
    path: str
    key: str
    state: str
    volume_kb: float | None
    pages: int | None
    volume_round: int | None
    start_pages: int
    dropped_pages: int
    merged_ms: int | None
    control_ms: int | None
    scope_rule: str


def add_hosts(tx: Transaction, new: Sequence[NewHost], now_ms: int) -> int:
    """Add the hosts that are not known yet, each with its unit `/`; return how many were new.

    A new host is due to be resolved at once. Keys of one call must differ.
    """
    found = {"first_seen_ms": now_ms, "resolution": "new", "resolve_after_ms": now_ms}
    added = tx.insert_new(hosts, [{**values_of(host), **found} for host in new])
    if added:
        bare = sa.select(hosts.c.id, sa.literal("/"), hosts.c.key, sa.literal("new")).where(
            tx.is_among(hosts.c.key, [host.key for host in new]),
            ~sa.exists().where(units.c.host_id == hosts.c.id),
        )
        tx.execute(units.insert().from_select(["host_id", "path", "key", "state"], bare))
    return added


def by_key(tx: Transaction, key: str) -> HostRow | None:
    """Return the host with this key."""
    return tx.row(HostRow, sa.select(hosts).where(hosts.c.key == key))


def by_ids(tx: Transaction, host_ids: Collection[int]) -> dict[int, HostRow]:
    """Return some hosts by number."""
    return {row.id: row for row in tx.rows_among(HostRow, sa.select(hosts), hosts.c.id, host_ids)}


def units_of_hosts(
    tx: Transaction, host_keys: Collection[str], *, merged: bool = False
) -> list[UnitRow]:
    """Return the units of the hosts with these keys, of each host in the order of paths.

    merged: also directories that were units once.
    """
    query = (
        sa.select(units)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(sa.true() if merged else units.c.merged_ms.is_(None))
        .order_by(units.c.host_id, units.c.path)
    )
    return tx.rows(UnitRow, query.where(tx.is_among(hosts.c.key, host_keys)))


def units_by_id(tx: Transaction, unit_ids: Collection[int]) -> list[UnitRow]:
    """Return units by number; numbers that no unit has are left out."""
    return tx.rows_among(UnitRow, sa.select(units), units.c.id, unit_ids)


def ids_of_units(tx: Transaction, keys: Collection[str]) -> dict[str, int]:
    """Return the numbers of units by key; keys that no unit has are left out."""
    return dict(tx.among(sa.select(units.c.key, units.c.id), units.c.key, keys))


def finders(tx: Transaction, unit_ids: Collection[int]) -> dict[int, int]:
    """Return which agent found the host of each of some units, where one did."""
    query = sa.select(units.c.id, hosts.c.found_by).join(hosts, hosts.c.id == units.c.host_id)
    return dict(tx.among(query.where(hosts.c.found_by.is_not(None)), units.c.id, unit_ids))


def in_state(tx: Transaction, state: str, limit: int) -> list[tuple[int, int | None]]:
    """Return (unit, group) of units in a state, lowest number first."""
    query = sa.select(units.c.id, hosts.c.group_id).join(hosts, hosts.c.id == units.c.host_id)
    return tx.tuples(query.where(units.c.state == state).order_by(units.c.id).limit(limit))


def tops_among(tx: Transaction, unit_ids: Collection[int]) -> list[int]:
    """Return those of some units that stand for their host, in the order given."""
    query = sa.select(units.c.id).where(units.c.path == "/")
    tops = set(tx.values_among(query, units.c.id, unit_ids))
    return [unit for unit in unit_ids if unit in tops]


def any_in_state(
    tx: Transaction, states: Collection[str], outside: sa.Select[Any] | None = None
) -> bool:
    """Return whether a unit is in one of some states. outside: a query for groups to skip."""
    query = sa.select(units.c.id).where(units.c.state.in_(states))
    if outside is not None:
        query = query.join(hosts, hosts.c.id == units.c.host_id).where(
            hosts.c.group_id.not_in(outside)
        )
    return tx.value(query.limit(1)) is not None


def count_in_state(tx: Transaction, states: Collection[str]) -> int:
    """Return how many units are in some states."""
    return tx.count(units, units.c.state.in_(states))


def excluded_among(tx: Transaction, unit_ids: Collection[int]) -> list[str]:
    """Return the keys of those units that are excluded."""
    query = sa.select(units.c.key).where(units.c.state == "excluded")
    return tx.values_among(query, units.c.id, unit_ids)


def unplaced_to_idle(tx: Transaction) -> None:
    """Return units that were being probed to the next round, those with an owner too."""
    owned = sa.exists().where(assignments.c.unit_id == units.c.id, assignments.c.until_ms.is_(None))
    probing = units.update().where(units.c.state == "probing")
    tx.execute(probing.where(owned).values(state="placed"))
    tx.execute(probing.values(state="idle"))


def any_unresolved_since(tx: Transaction, since_ms: int) -> bool:
    """Return whether a host that was found since a moment has not been resolved yet."""
    return tx.exists(
        units.c.state == "new",
        hosts.c.id == units.c.host_id,
        hosts.c.resolution == "new",
        hosts.c.first_seen_ms >= since_ms,
    )


def change_state(tx: Transaction, before: str, after: str) -> int:
    """Move all units of one state to another; return how many."""
    return tx.changed(units.update().where(units.c.state == before).values(state=after))


def set_unit_state(tx: Transaction, unit_ids: Collection[int], state: str) -> None:
    """Set what becomes of units next; the states are those of the table."""
    tx.changed_among(units.update().values(state=state), units.c.id, unit_ids)


def set_volume(tx: Transaction, unit_id: int, volume_kb: float, pages: int) -> None:
    """Set the volume of a unit as far as its parts are known; the next crawl measures it."""
    tx.execute(units.update().where(units.c.id == unit_id).values(volume_kb=volume_kb, pages=pages))


def set_excluded(tx: Transaction, host_id: int, excluded_ms: int | None, reason: str) -> None:
    """Take a host out of the crawl, or back in (None)."""
    values = {"excluded_ms": excluded_ms, "excluded_reason": reason}
    tx.execute(hosts.update().where(hosts.c.id == host_id).values(values))
