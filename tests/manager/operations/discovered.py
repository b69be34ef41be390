"""What an agent found, stored as intake has it stored."""

from __future__ import annotations

from collections.abc import Iterable

from manager.db.engine import Database
from manager.operations.hosts.discoveries import Recorded, record_found
from manager.operations.hosts.lists.host_lines import Tally, parsed
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.policy import DEFAULT_POLICY, Policy

__all__ = ["record_discovered"]


def record_discovered(
    db: Database,
    agent: AgentIdentity,
    urls: Iterable[tuple[int, str, str | None]],
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> Recorded:
    """Store what an agent found: (line number, URL, referer or None), any number of them."""
    tally = Tally()
    return record_found(db, agent, parsed(urls, tally), tally, now_ms, policy)
