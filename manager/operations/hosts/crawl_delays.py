"""Crawl-delays of hosts: what agents read in robots.txt, and how far it is believed.

Only the site may say that its host is asked more often than by one agent alone, and no single agent
speaks for it: a shorter pause counts where two agents read the same. A longer one counts at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.hosts import crawl_delays
from manager.db.hosts.crawl_delays import CrawlDelayRow

__all__ = ["LONGEST_DELAY_MS", "agreed_ms", "record_crawl_delays"]

LONGEST_DELAY_MS: Final = 86_400_000
"""A day; so long agents keep a Crawl-delay, if their site allows it (`politeness`)."""

WITNESSES: Final = 2


def record_crawl_delays(
    tx: Transaction, said: Iterable[tuple[int, int, int | None]], now_ms: int
) -> None:
    """Take what agents read, as (unit, agent, milliseconds); None: nothing was read."""
    read = [(unit_id, agent_id, ms) for unit_id, agent_id, ms in said if ms is not None]
    if not read:
        return
    hosts, before = crawl_delays.delays_of_units(tx, {unit_id for unit_id, *_ in read})
    now = {
        (hosts[unit_id], agent_id): min(ms, LONGEST_DELAY_MS)
        for unit_id, agent_id, ms in read
        if unit_id in hosts
    }
    changed = [
        CrawlDelayRow(*pair, delay_ms, now_ms)
        for pair, delay_ms in now.items()
        if delay_ms != before.get(pair, 0)
    ]
    crawl_delays.record(tx, changed)


def agreed_ms(rows: Sequence[CrawlDelayRow], alone_ms: float) -> float:
    """Return the pause between two requests to a host by its Crawl-delay.

    alone_ms: the pause of one agent, where robots.txt says nothing.
    """
    if not rows:
        return alone_ms
    longest_ms = max(row.delay_ms for row in rows)
    [(_, agents)] = Counter(row.delay_ms for row in rows).most_common(1)
    return float(longest_ms) if longest_ms >= alone_ms or agents >= WITNESSES else alone_ms
