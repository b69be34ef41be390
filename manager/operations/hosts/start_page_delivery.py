"""Delivery of start pages within the round: to crawls under way, and to units that are done.

A list is whole, so start pages are sent in batches: an agent's list is renewed when the oldest of
its news has waited for `policy.start_page_delay_s`, or at once when the agent has nothing else to
do. A unit that is done continues in the round, at the agent that crawled it and knows its pages, if
that can continue (`SyncRequest.reopens`) and still owns it. All other start pages come with the
next list that has their unit: the grant of a unit that waits, or the next round (ADR 203).
Where rounds overlap, what crawls is sent its pages in either; a unit reopens in the newest only.
Invariant: a round does not end while news of it wait; each unit continues at most
`policy.reopenings_per_unit` times in a round, so hosts that name each other's pages cannot keep a
round open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from manager.db.engine import Database, Transaction
from manager.db.hosts import host_shares, pieces, start_page_news
from manager.db.hosts.start_page_news import NewsRow
from manager.db.rounds import rounds
from manager.operations.policy import Policy

__all__ = ["deliver_start_pages"]


def deliver_start_pages(db: Database, now_ms: int, policy: Policy) -> int:
    """Send new start pages to their agents where that is due; return the number of units."""
    with db.read() as tx:
        if not start_page_news.any_waiting(tx):
            return 0
    with db.write() as tx:
        numbers = rounds.live_numbers(tx)
        if not numbers:
            start_page_news.drop(tx)  # each list of the next crawl has them
            return 0
        return _deliver(tx, numbers, now_ms, policy)


def _deliver(tx: Transaction, numbers: Sequence[int], now_ms: int, policy: Policy) -> int:
    current = rounds.open_round(tx)
    crawls = current is not None and current.state == "crawling" and current.carried_ms is None
    reopening = current.number if crawls and current is not None else None
    waiting = _waiting(tx, numbers, reopening, policy.tick_batch_rows)
    split = pieces.hosts_of_units(tx, {row.unit_id for row in waiting})
    of_agent: dict[int, list[NewsRow]] = defaultdict(list)
    late = []
    for row in waiting:
        if row.agent_id is not None and _takes_part(row, policy, is_piece=row.unit_id in split):
            of_agent[row.agent_id].append(row)
        else:
            late.append(row.unit_id)
    start_page_news.drop(tx, late)
    busy = set[int]().union(*(start_page_news.busy_agents(tx, number) for number in numbers))
    delay_ms = round(policy.start_page_delay_s * 1000)
    due = [
        row
        for agent, rows in of_agent.items()
        for row in rows
        if agent not in busy or rows[0].since_ms + delay_ms <= now_ms or rows[0].since_ms > now_ms
    ]
    host_shares.news(tx, [row.unit_id for row in due if row.state == "granted"])
    if reopening is not None:
        done = [row.unit_id for row in due if row.state == "finished"]
        start_page_news.reopen(tx, reopening, done)
    start_page_news.drop(tx, [row.unit_id for row in due])
    return len(due)


def _waiting(
    tx: Transaction, numbers: Sequence[int], reopening: int | None, limit: int
) -> list[NewsRow]:
    """Return the units with news, the oldest first, each as in the round that crawls it now.

    reopening: the newest round, where it crawls. What an earlier one finished comes with this one's
    lists, or with those of a round that still probes.
    """
    found: dict[int, NewsRow] = {}
    for number in reversed(numbers):
        for row in start_page_news.waiting(tx, number, limit):
            crawled = number == reopening or row.state == "granted"
            if row.unit_id not in found or row.state == "granted":
                found[row.unit_id] = row if crawled else replace(row, state=None, agent_id=None)
    return sorted(found.values(), key=lambda row: (row.since_ms, row.unit_id))


def _takes_part(row: NewsRow, policy: Policy, *, is_piece: bool) -> bool:
    """Return whether the agent of a unit can be sent its start pages in this round."""
    if row.is_plain or row.agent_id != row.owner_id:
        return False
    if row.state == "granted":
        return True
    can_continue = row.state == "finished" and bool(row.reopens) and not is_piece
    return can_continue and (row.reopened or 0) < policy.reopenings_per_unit
