"""Lines of a server list: limits, intervals, exceptions and start pages of units.

Invariant: the list tells each agent of a split host which parts others crawl, how many agents share
its rate, and how long the agent rests itself; all of it may only change with a generation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from manager.assignment.host_shares import share_ms
from manager.db.engine import Transaction
from manager.db.hosts import host_shares, start_pages
from manager.db.hosts.host_shares import SplitHost
from manager.db.measurement import refetch_orders
from manager.db.ownership import right_lists
from manager.db.ownership.right_lists import ListedRow
from manager.db.planning import probes
from shared.units import is_unit
from shared.wire.orders import Order

__all__ = ["orders_of"]


@dataclass(slots=True)
class _Host:
    """Properties of a host for the lines of its units."""

    split: SplitHost | None
    of_others: list[str] = field(default_factory=list)
    rests_ms: list[int] = field(default_factory=list)

    def order(
        self, row: ListedRow, starts: Sequence[tuple[str, str | None]], only: Sequence[str]
    ) -> Order:
        """Return the line of a unit with its comments. only: paths, of pages to fetch again."""
        if self.split is None:
            return Order(row.key, None, row.max_transfer, starts=tuple(starts), only=tuple(only))
        # A probe of `/` measures the host, whoever crawls which part of it, and alone.
        is_crawl = row.kind == "crawl"
        share = max(1, self.split.shares) if is_crawl else 1
        interval_ms = self.split.interval_ms
        return Order(
            row.key,
            None,
            row.max_transfer,
            None if interval_ms is None else share_ms(interval_ms, share, self.rests_ms),
            tuple(path for path in self.of_others if is_crawl and _lies_in(path, row.path)),
            share,
            tuple(starts),
            tuple(only),
        )


def orders_of(
    tx: Transaction,
    agent_id: int,
    page: Sequence[ListedRow],
    now_ms: int,
    start_pages_limit: int,
    round_number: int | None = None,
) -> list[Order]:
    """Return the orders for some units of an agent's list, each followed by its start pages.

    start_pages_limit: of a unit that is no piece of a split host; the most referred are sent.
    round_number: of the list; units of another one say which. None: the agent cannot be told.
    Crawls whose agent made a probe in their round say so: it may begin where that ended.
    """
    hosts = _hosts(tx, agent_id, {row.host_id for row in page}, now_ms)
    listed = {row.unit_id: row for row in page if row.start_pages and row.kind != "refetch"}
    again = refetch_orders.urls_listed(
        tx, agent_id, [row.unit_id for row in page if row.kind == "refetch"]
    )
    pages: dict[int, list[Order]] = defaultdict(list)
    starts: dict[int, list[tuple[str, str | None]]] = defaultdict(list)
    sent: dict[int, int] = defaultdict(int)
    for start in start_pages.start_pages_of(tx, listed):
        row = listed[start.unit_id]
        sent[row.unit_id] += 1
        if sent[row.unit_id] > start_pages_limit and hosts[row.host_id].split is None:
            continue
        if is_unit(start.url):  # a separate line would name a unit
            path = start.url[len(row.key) - len(row.path) :]
            starts[start.unit_id].append((path, start.referer))
        else:
            pages[start.unit_id].append(Order(start.url, start.referer, row.max_transfer))
    whole = [row for row in page if row.kind == "crawl" and not row.max_transfer]
    probed = probes.done_of_agent(
        tx, agent_id, [(row.unit_id, row.round) for row in whole if row.continues is None]
    )
    made: list[Order] = []
    for row in page:
        only = [url[url.index("/", 8) :] for url in again.get(row.unit_id, ())]
        if row.kind == "refetch" and not only:
            continue  # without a page it would read as a probe
        order = hosts[row.host_id].order(row, starts.get(row.unit_id, ()), only)
        if round_number is not None and row.round != round_number:
            order = replace(order, round=row.round)
        if round_number is not None and row.continues is not None:
            order = replace(order, continues=row.continues)
        if (row.unit_id, row.round) in probed and hosts[row.host_id].split is None:
            order = replace(order, probed=row.kind == "crawl")
        made.append(order)
        made += pages.get(row.unit_id, ())
    return made


def _hosts(tx: Transaction, agent_id: int, host_ids: set[int], now_ms: int) -> dict[int, _Host]:
    split = host_shares.split_hosts(tx, host_ids)
    found = {host_id: _Host(split.get(host_id)) for host_id in host_ids}
    for host_id, path in right_lists.directories_of_others(tx, agent_id, split):
        found[host_id].of_others.append(path)
    for rest in host_shares.rests(tx, split, now_ms):
        if rest.agent_id != agent_id:
            found[rest.host_id].rests_ms.append(rest.rest_ms)
    return found


def _lies_in(path: str, around: str) -> bool:
    return path != around and path.startswith(around)
