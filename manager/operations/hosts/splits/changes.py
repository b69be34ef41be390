"""Record of the last split or merge of a host: by whom, and in which round."""

from __future__ import annotations

from typing import Final

from manager.db.engine import Transaction
from manager.db.hosts import host_splits
from manager.db.hosts.host_splits import SplitChange
from manager.db.rounds import rounds
from manager.operations.actor import Actor

__all__ = ["FIGURE", "record_change"]

FIGURE: Final = "split report"
"""Key of the figure that a change makes old (`splits.proposals`)."""


def record_change(
    tx: Transaction, host_id: int, actor: Actor, now_ms: int, *, by_robots: bool = False
) -> None:
    """Write down that a person, or the setting `policy.splits`, split or merged a host.

    by_robots: of a split, whether its robots.txt allowed the pause. The order for the host is
    deleted. The clock acts for the person who ordered.
    """
    order = host_splits.orders_of(tx, [host_id]).get(host_id)
    by_person = order is not None and bool(order.ordered_by)
    by_setting = actor.kind == "clock" and not by_person
    number = rounds.last_number(tx)
    host_splits.record(tx, SplitChange(host_id, by_setting, number, now_ms, by_robots))
    host_splits.drop_orders(tx, [host_id])
