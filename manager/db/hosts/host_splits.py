"""The last split or merge of a host, and the one that is ordered.

A host that was split before there were rows has none, and counts as split by a person. Whether a
host is split now is in `pieces`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal

import sqlalchemy as sa

from manager.db.tables import host_splits, hosts
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of

__all__ = [
    "SplitAction",
    "SplitChange",
    "SplitOrder",
    "changes_of",
    "drop_orders",
    "order",
    "ordered",
    "orders_of",
    "record",
    "shared_by_robots",
    "shared_hosts",
]

SplitAction = Literal["split", "merge"]


@frozen
class SplitChange:
    """The last split or merge of a host. by_setting: by `policy.splits`, not by a person.

    round: the newest one then. by_robots: the pause is shorter because its robots.txt allows that.
    """

    host_id: int
    by_setting: bool
    round: int
    changed_ms: int
    by_robots: bool = False


@frozen
class SplitOrder:
    """A split or merge that waits until no agent fetches from the host.

    pieces, interval_ms: of a split. ordered_by: a person; empty: the setting.
    """

    host_id: int
    ordered: SplitAction
    pieces: int
    interval_ms: int
    ordered_by: str
    ordered_ms: int


_ORDERS: Final = sa.select(
    *(host_splits.c[name] for name in SplitOrder.__dataclass_fields__)
).where(host_splits.c.ordered.is_not(None))
_SHARED: Final = (
    sa.select(hosts.c.id)
    .where(hosts.c.shared_interval_ms.is_not(None))
    .order_by(hosts.c.id)
    .limit(sa.bindparam("most"))
)


def record(tx: Transaction, change: SplitChange) -> None:
    """Write down that a host was split or merged."""
    tx.upsert(host_splits, [values_of(change)], ["host_id"])


def changes_of(tx: Transaction, host_ids: Collection[int]) -> dict[int, SplitChange]:
    """Return the last changes of some hosts."""
    c = host_splits.c
    query = sa.select(c.host_id, c.by_setting, c.round, c.changed_ms, c.by_robots)
    changed = query.where(c.changed_ms.is_not(None))
    return {row.host_id: row for row in tx.rows_among(SplitChange, changed, c.host_id, host_ids)}


def order(tx: Transaction, one: SplitOrder) -> None:
    """Write down what is to be done with a host; it replaces an earlier order."""
    tx.upsert(host_splits, [values_of(one)], ["host_id"])


def ordered(tx: Transaction, most: int) -> list[SplitOrder]:
    """Return orders, the oldest first."""
    return tx.rows(SplitOrder, _ORDERS.order_by(host_splits.c.ordered_ms).limit(most))


def orders_of(tx: Transaction, host_ids: Collection[int]) -> dict[int, SplitOrder]:
    """Return the orders of some hosts."""
    rows = tx.rows_among(SplitOrder, _ORDERS, host_splits.c.host_id, host_ids)
    return {row.host_id: row for row in rows}


def drop_orders(tx: Transaction, host_ids: Collection[int]) -> None:
    """Delete the orders of some hosts: they are carried out, or cancelled."""
    nothing = host_splits.update().values(ordered=None, ordered_by="", ordered_ms=None)
    tx.changed_among(nothing, host_splits.c.host_id, host_ids)


def shared_by_robots(tx: Transaction) -> list[int]:
    """Return shared hosts whose pause is shorter because their robots.txt allows that."""
    joined = host_splits.join(hosts, hosts.c.id == host_splits.c.host_id)
    shared = hosts.c.shared_interval_ms.is_not(None), host_splits.c.by_robots
    query = sa.select(hosts.c.id).select_from(joined).where(*shared)
    return tx.values(query.order_by(hosts.c.id))


def shared_hosts(tx: Transaction, most: int) -> list[int]:
    """Return hosts whose pieces may be with several agents."""
    return tx.values(_SHARED, {"most": most})
