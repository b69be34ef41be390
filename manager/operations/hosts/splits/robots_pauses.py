"""Pauses of split hosts that robots.txt allowed: they last as long as it says so.

A site may take its Crawl-delay back, or ask for a longer one. Before each crawl the pause of such a
split is computed again; it only becomes longer. A split that gains nothing then is proposed to be
merged, as any other.
"""

from __future__ import annotations

from manager.db.engine import Database, Transaction
from manager.db.hosts import host_shares, host_splits, hosts
from manager.db.hosts.hosts import HostRow
from manager.errors import ConflictError
from manager.operations.actor import CLOCK, note
from manager.operations.hosts.splits.changes import FIGURE
from manager.operations.hosts.splits.pieces import directories_of, pause_of
from manager.operations.policy import Policy

__all__ = ["lengthen_pauses"]


def lengthen_pauses(db: Database, now_ms: int, policy: Policy) -> int:
    """Lengthen the pauses that the hosts' robots.txt no longer allows; return how many."""
    with db.read() as tx:
        due = _longer(tx, policy)
    if not due:
        return 0
    with db.write() as tx:
        due = _longer(tx, policy)
        for host, pause_ms in due:
            host_shares.set_interval(tx, host.id, pause_ms)
            split = host_shares.split_hosts(tx, [host.id])[host.id]
            _, held = host_shares.wanted_shares(tx, split)
            host_shares.news(tx, held)
            note(tx, now_ms, CLOCK, "host.lengthen-pause", host.key, interval_s=pause_ms / 1000)
    db.figures.forget(FIGURE)
    return len(due)


def _longer(tx: Transaction, policy: Policy) -> list[tuple[HostRow, int]]:
    known = hosts.by_ids(tx, host_splits.shared_by_robots(tx))
    found = []
    for host in known.values():
        [top] = [one.id for one in hosts.units_of_hosts(tx, [host.key]) if one.path == "/"]
        try:
            directories = directories_of(tx, host)
        except ConflictError:  # no crawl of it is kept
            continue
        pause_ms = round(pause_of(tx, host.id, top, directories, policy))
        if host.shared_interval_ms is not None and pause_ms > host.shared_interval_ms:
            found.append((host, pause_ms))
    return found
