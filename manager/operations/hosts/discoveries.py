"""M2: hosts and pages that an agent found outside its units.

Invariant: an agent adds at most so many a day, whatever it sends; a repeat adds nothing. A page
that is new to the manager travels with its referer to the list of the agent that has its unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.operations.actor import note, note_alone
from manager.operations.hosts.crawl_scope import rules_in_force, urls_inside
from manager.operations.hosts.found_urls import FoundUrl
from manager.operations.hosts.lists.host_lines import Imported, Tally, batches, store
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.frozen import frozen, values_of

__all__ = ["Recorded", "record_found"]

DAY_MS: Final = 86_400_000


@frozen
class Recorded(Imported):
    """The outcome of lines of an agent. over_limit: hosts and pages beyond what a day takes."""

    over_limit: int


def record_found(
    db: Database,
    agent: AgentIdentity,
    found: Iterable[FoundUrl],
    tally: Tally,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
    is_gone: Callable[[], bool] = lambda: False,
) -> Recorded:
    """Store what an agent found, any number of hosts and pages.

    What is outside of the scope of the crawl is left out; so is what is over the day's limit, which
    is noted as an alert, once a day. tally: counts from before. is_gone: returns whether the client
    no longer waits for the answer; what is stored by then stays, and the rest is left out.
    """
    today = now_ms // DAY_MS
    over_limit = 0
    with db.read() as tx:
        rules = rules_in_force(tx)
    for batch in batches(urls_inside(found, rules)):
        if is_gone():
            break
        with db.write() as tx:
            row = agents.by_id(tx, agent.id)
            before = row.discovered if row is not None and row.discovered_day == today else 0
            added_before = tally.new + tally.start_pages
            left_out = store(
                tx,
                batch,
                agent.id,
                policy.discoveries_per_day - before,
                policy.start_pages_per_unit,
                now_ms,
                tally,
            )
            added = tally.new + tally.start_pages - added_before
            agents.update(tx, agent.id, discovered_day=today, discovered=before + added)
            if left_out and before + added >= policy.discoveries_per_day and added:
                note(
                    tx,
                    now_ms,
                    agent.actor,
                    "agent.exceed-discoveries",
                    agent.name,
                    alert=True,
                    limit=policy.discoveries_per_day,
                )
            over_limit += left_out
    if tally.new or tally.start_pages or tally.inside:
        note_alone(
            db,
            now_ms,
            agent.actor,
            "host.discover",
            agent.name,
            new=tally.new,
            start_pages=tally.start_pages,
            inside=tally.inside,
            refused=tally.refused_count,
            over_limit=over_limit,
        )
    return Recorded(**values_of(tally.outcome()), over_limit=over_limit)
