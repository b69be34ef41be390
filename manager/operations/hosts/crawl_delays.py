"""Crawl-delays of hosts: what agents read in robots.txt, and how far it is believed.

Only the site may say that its host is asked more often than by one agent alone, and no single agent
speaks for it: a shorter pause counts where the owner and another agent read the same. What others
read once may be old; the owner reads it in each round. A longer one counts at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.hosts import crawl_delays
from manager.db.hosts.crawl_delays import CrawlDelayRow

__all__ = ["LONGEST_DELAY_MS", "agreed_ms", "record_crawl_delays"]

LONGEST_DELAY_MS: Final = 86_400_000
"""A day; so long agents keep a Crawl-delay, if their site allows it (`politeness`)."""


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


def agreed_ms(rows: Sequence[CrawlDelayRow], owner: int, alone_ms: float) -> float:
    """Return the pause between two requests to a host by its Crawl-delay.

    owner: the agent that has the host. alone_ms: its pause, where robots.txt says nothing.
    """
    longest_ms = max((row.delay_ms for row in rows), default=0)
    own = [row.delay_ms for row in rows if row.agent_id == owner]
    agreed = any(row.agent_id != owner and row.delay_ms in own for row in rows)
    return float(longest_ms) if longest_ms >= alone_ms or agreed else alone_ms
