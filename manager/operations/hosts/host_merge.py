"""Merge of a split host: one unit again, owned by the agent that owns `/`.

Invariants as in `host_split`: each page lies in one unit before and after, and no agent fetches
meanwhile. A merged directory keeps its history.
"""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database
from manager.db.hosts import host_shares, hosts, pieces, start_pages
from manager.db.ownership import assignments, pins
from manager.db.planning import probes
from manager.db.rounds import round_units, rounds
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.hosts.idle_hosts import check_idle, host_and_units
from manager.operations.hosts.splits.changes import FIGURE, record_change
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.messages import Message

__all__ = ["merge_host"]

MERGED: Final = Message("ownership.merged")


def merge_host(
    db: Database, key: str, actor: Actor, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> int:
    """Make the pieces of a host one unit again, of the agent that has `/`; return how many.

    Raises NotFoundError, UrlError, ConflictError with the reason why it cannot be merged now.
    """
    with db.write() as tx:
        host, units = host_and_units(tx, key)
        [top] = [unit for unit in units if unit.path == "/"]
        below = [unit for unit in units if unit.path != "/"]
        if not below:
            raise ConflictError("hosts.not_split", host=host.key)
        check_idle(tx, host, units, policy, now_ms)
        ids = [unit.id for unit in below]
        pinned = [pin.unit for pin in pins.pins_in_groups(tx, ids) if pin.unit_id in ids]
        if pinned:
            raise ConflictError("hosts.pinned_below", unit=pinned[0])
        assignments.close(tx, ids, now_ms, MERGED)
        probes.fail(tx, MERGED, unit_ids=ids)
        for number in rounds.live_numbers(tx):
            round_units.cancel_units(tx, number, MERGED, ids)
        start_pages.drop_found(tx, [unit.id for unit in units])
        moves = {page.id: top.id for page in start_pages.start_pages_of(tx, ids)}
        start_pages.move_start_pages(tx, moves)
        known = [unit for unit in units if unit.volume_kb is not None]
        if known:
            hosts.set_volume(
                tx,
                top.id,
                sum(unit.volume_kb or 0.0 for unit in known),
                sum(unit.pages or 0 for unit in known),
            )
        pieces.merge_units(tx, ids, now_ms)
        host_shares.end(tx, [host.id])
        record_change(tx, host.id, actor, now_ms)
        note(tx, now_ms, actor, "host.merge", host.key, units=len(ids))
    db.figures.forget(FIGURE)
    return len(ids)
