"""Counts of a round's units and probes, which pages and alerts share as cached figures."""

from __future__ import annotations

from collections import Counter, defaultdict

from manager.db.engine import Database, Transaction
from manager.db.fleet import agent_summaries, agents
from manager.db.hosts import addresses
from manager.db.planning import probes
from manager.db.rounds import round_units, rounds
from manager.operations.health.few_hosts import UnitCounts
from manager.operations.measurement.distances import counted_totals
from shared.frozen import frozen

__all__ = ["RoundCounts", "hosts_without_address", "round_counts", "unit_counts"]


@frozen
class RoundCounts:
    """orders: to probe, by state. progress: (agent, state, units, pages, bytes).

    failures: (agent, failure, units).
    """

    orders: dict[str, int]
    progress: list[tuple[int, str, int, int, int]]
    measured_ms: dict[int, int]
    failures: list[tuple[int, str, int]]


def round_counts(db: Database, number: int) -> RoundCounts:
    """Return how far a round is; may be a cached figure."""
    return db.figure(
        ("round", number),
        lambda tx: RoundCounts(
            probes.counts(tx, number),
            round_units.progress_by_agent(tx, number),
            {agent: ms for agent, ms, _ in counted_totals(tx, number)},
            round_units.failures_by_agent(tx, number),
        ),
    )


def hosts_without_address(db: Database) -> dict[str, int]:
    """Return how many hosts never had an address, by the failure of their last look-up."""
    return db.figure("hosts without address", _without_address)


def _without_address(tx: Transaction) -> dict[str, int]:
    found: Counter[str] = Counter()
    for resolution, failure, count in addresses.name_counts(tx, failed=True):
        if resolution == "failed":
            found[failure] += count
    return dict(found.most_common())


def unit_counts(db: Database) -> list[UnitCounts]:
    """Return the units of the newest round by agent; may be cached figures."""
    with db.read() as tx:
        number, names = rounds.last_number(tx), agents.names(tx)
        unanswered = agent_summaries.unanswered_hosts(tx)
    far = round_counts(db, number)
    states: dict[int, Counter[str]] = defaultdict(Counter)
    for agent, state, held, _, _ in far.progress:
        states[agent][state] += held
    failures: dict[int, dict[str, int]] = defaultdict(dict)
    for agent, failure, count in far.failures:
        failures[agent][failure] = count
    return [
        UnitCounts(
            names.get(agent, ""),
            states[agent]["finished"],
            failures[agent],
            states[agent]["waiting"] + states[agent]["granted"],
            unanswered.get(agent, 0),
        )
        for agent in sorted({*states, *unanswered})
    ]
