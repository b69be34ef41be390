"""Orders to split or merge a host as soon as its crawl is over.

Invariant: a host with an order is given to no agent again before the order is carried out or
dropped (`round_units.waiting_for`). So a host that one round after the other crawls, which a slow
host is, has a moment at which it can be split. A crawl that runs is never touched.
"""

from __future__ import annotations

from typing import Any, Final

from manager.db.engine import Database
from manager.db.hosts import host_splits, hosts
from manager.db.hosts.host_splits import SplitAction, SplitOrder
from manager.errors import ConflictError
from manager.operations.actor import CLOCK, Actor, note
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.idle_hosts import host_named
from manager.operations.hosts.splits.changes import FIGURE
from manager.operations.policy import Policy

__all__ = ["BUSY", "cancel_order", "carry_out_orders", "change_host", "order_change"]

BUSY: Final = frozenset(
    ("hosts.busy_crawl", "hosts.busy_probe", "hosts.busy_refetch", "hosts.crawled_in_round")
)
"""Codes of refusals that end with the crawl."""
AT_ONCE: Final = 50


def change_host(
    db: Database,
    host: str,
    action: SplitAction,
    actor: Actor,
    now_ms: int,
    policy: Policy,
    pieces: int = 0,
    interval_s: float | None = None,
) -> None:
    """Split or merge a host now. Raises what `split_host` and `merge_host` raise."""
    if action == "merge":
        merge_host(db, host, actor, now_ms, policy)
        return
    split_host(db, host, actor, now_ms, parts=pieces or None, interval_s=interval_s, policy=policy)


def order_change(
    db: Database,
    host: str,
    action: SplitAction,
    actor: Actor,
    now_ms: int,
    pieces: int,
    interval_s: float,
) -> None:
    """Order a host to be split or merged when its crawl is over."""
    by = "" if actor.kind == "clock" else actor.name
    with db.write() as tx:
        row = host_named(tx, host)
        host_splits.order(
            tx, SplitOrder(row.id, action, pieces, round(interval_s * 1000), by, now_ms)
        )
        detail: dict[str, Any] = {"change": action}
        if action == "split":
            detail |= {"pieces": pieces, "interval_s": interval_s}
        note(tx, now_ms, actor, "host.order-split", row.key, **detail)
    db.figures.forget(FIGURE)


def cancel_order(db: Database, host: str, actor: Actor, now_ms: int) -> None:
    """Cancel the order to split or merge a host.

    Raises NotFoundError, UrlError, ConflictError where nothing is ordered.
    """
    with db.write() as tx:
        row = host_named(tx, host)
        if not host_splits.orders_of(tx, [row.id]):
            raise ConflictError("hosts.no_split_order", host=row.key)
        host_splits.drop_orders(tx, [row.id])
        note(tx, now_ms, actor, "host.cancel-split", row.key)
    db.figures.forget(FIGURE)


def carry_out_orders(db: Database, now_ms: int, policy: Policy) -> int:
    """Carry out the orders of hosts that no agent fetches from; return how many.

    An order that has become impossible is cancelled, with the reason in the audit.
    """
    with db.read() as tx:
        orders = host_splits.ordered(tx, AT_ONCE)
        if not orders:
            return 0
        keys = {one.id: one.key for one in hosts.by_ids(tx, [o.host_id for o in orders]).values()}
    done = 0
    for one in orders:
        key = keys[one.host_id]
        interval_s = one.interval_ms / 1000
        try:
            change_host(db, key, one.ordered, CLOCK, now_ms, policy, one.pieces, interval_s)
            done += 1
        except ConflictError as error:
            if error.message.code in BUSY:
                continue
            with db.write() as tx:
                host_splits.drop_orders(tx, [one.host_id])
                note(tx, now_ms, CLOCK, "host.cancel-split", key, reason=error.message)
    return done
