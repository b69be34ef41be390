"""Slow hosts that no split helps, with what would: a shorter interval, or requests in a row."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Final

import numpy as np

from manager.balancing.forecast.slow_hosts import remedies
from manager.db.engine import Transaction
from manager.db.hosts import addresses, crawl_delays, hosts
from manager.db.hosts.hosts import HostRow
from manager.db.rounds import rounds
from manager.message_fields import message_fields
from manager.operations.hosts.splits.crawl_view import CrawlView
from manager.operations.ownership.agent_capacity import MOST_MS
from manager.operations.policy import Policy
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["SlowHost", "fit_ms", "slow_hosts", "whole_ms"]

SLOW_MOST: Final = 50
"""Slow hosts that are listed."""


@message_fields
@frozen
class SlowHost:
    """A host that takes longer than it should and that no split helps, with what would.

    beside: other hosts at its address, which it has in common with them. takes_ms: so long; None:
    for ever. interval_s: the longest interval of its agent with which it ends in time; burst: the
    fewest requests in a row; None: nothing of the kind helps. why: no split helps.
    """

    host: str
    agent: str
    beside: int
    requests: int
    takes_ms: int | None
    interval_s: float | None
    burst: int | None
    why: Message


def slow_hosts(
    view: CrawlView, limit_ms: int, helped: Collection[str]
) -> tuple[int, list[SlowHost]]:
    """Return how many hosts take too long although nothing is proposed, and the slowest."""
    slow: list[tuple[float, int, int]] = []
    total = 0
    for agent, load in view.forecast.loads.items():
        ends = view.forecast.hours[agent].end_of(load.alone_ms(load.load))
        late = np.flatnonzero(ends > limit_ms)
        total += len(late)
        slowest = late[np.argsort(-ends[late], kind="stable")[: SLOW_MOST + len(helped)]]
        slow += [(float(ends[one]), agent, int(load.address[one])) for one in slowest]
    slow.sort(key=lambda one: (-one[0], one[2], one[1]))
    known = hosts.by_ids(view.tx, {address for *_, address in slow})
    left = {address: (ends_ms, agent) for ends_ms, agent, address in reversed(slow)}
    listed = [one for one in reversed(left.items()) if known[one[0]].key not in helped]
    total -= len(slow) - len(listed)
    return total, [
        _slow_host(view, known[address], *one, limit_ms) for address, one in listed[:SLOW_MOST]
    ]


def _slow_host(
    view: CrawlView, host: HostRow, ends_ms: float, agent: int, limit_ms: int
) -> SlowHost:
    units = view.units_at(host.id)
    units = units[view.sized.agent[units] == agent]
    part = replace(view.part(units), own_rest_ms=float(view.sized.own_rest_ms[units].max()))
    load, hours = view.forecast.loads[agent], view.forecast.hours[agent]
    work_ms = float(hours.work_at(np.array([float(limit_ms)]))[0])
    found = remedies(part, load.capacity, load.rest_ms(part), work_ms)
    interval_ms = found.interval_ms
    return SlowHost(
        host=host.key,
        agent=view.rows[agent].name,
        beside=max(0, len(addresses.numbers_of_group(view.tx, host.id)) - 1),
        requests=round(part.requests),
        takes_ms=whole_ms(ends_ms),
        interval_s=None if interval_ms is None else math.floor(interval_ms) / 1000,
        burst=found.burst,
        why=_asks_for_time(view, host, agent, load.rest_ms(part))
        or view.obstacle(host.id)
        or Message("hosts.split_gains_nothing"),
    )


def _asks_for_time(view: CrawlView, host: HostRow, agent: int, rest_ms: float) -> Message | None:
    """Return that the Crawl-delay of a host is longer than the rest of its address."""
    read = {one.agent_id: one.delay_ms for one in crawl_delays.delays_of_host(view.tx, host.id)}
    delay_ms = read.get(agent, 0)
    return (
        Message("hosts.asks_for_crawl_delay", delay_s=delay_ms / 1000)
        if delay_ms > rest_ms
        else None
    )


def fit_ms(tx: Transaction, policy: Policy) -> int:
    """Return within what a host should be done: the deadline of the round, else the setting."""
    current = rounds.open_round(tx)
    if current is not None and current.until_ms is not None:
        return max(1, current.until_ms - (current.crawling_ms or current.started_ms))
    return round(policy.slow_host_s * 1000)


def whole_ms(ms: float) -> int | None:
    return round(ms) if ms <= MOST_MS else None
