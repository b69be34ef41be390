"""Coverage of probes: share of recent pairs by agent, and the age of distances."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.planning import probe_coverage
from manager.db.planning.probe_coverage import ControlRow
from manager.db.rounds import rounds
from manager.message_fields import message_fields
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["AGE_DAYS", "AgentCoverage", "Coverage", "coverage"]

AGE_DAYS: Final = (1, 7, 30, 90)
DAY_MS: Final = 86_400_000


@message_fields
@frozen
class AgentCoverage:
    """Coverage of an agent's measurements: hosts; orders that are open, failed or not needed.

    fresh: hosts that take part, measured so lately that no round probes them again. ages: how many
    are as old as between the limits of AGE_DAYS, and older than the last; of whatever it measured.
    suspect_reason: None where it is sound.
    """

    agent: str
    measured: int
    fresh: int
    unreachable: int
    ages: list[int]
    waiting: int
    under_way: int
    failed: int
    not_needed: int
    suspect_since_ms: int | None
    suspect_reason: Message | None


@frozen
class Coverage:
    """hosts: that take part; hosts_fresh: of which an agent has a fresh distance.

    fresh_days: what is fresh. round: whose orders are counted, and those for the one after it.
    """

    hosts: int
    hosts_fresh: int
    fresh_days: float
    round: int
    agents: list[AgentCoverage]
    controls: list[ControlRow]

    @property
    def pairs(self) -> int:
        """Return how many pairs of agent and host there are."""
        return self.hosts * len(self.agents)

    @property
    def pairs_fresh(self) -> int:
        """Return how many of them were measured lately."""
        return sum(one.fresh for one in self.agents)

    @property
    def ages(self) -> list[int]:
        """Return how old all distances are, as `AgentCoverage.ages`."""
        return [sum(one.ages[at] for one in self.agents) for at in range(len(AGE_DAYS) + 1)]


def coverage(db: Database, now_ms: int, policy: Policy = DEFAULT_POLICY) -> Coverage:
    """Return what share of all pairs is measured, by agent. Reads all distances by an index."""
    fresh_ms = now_ms - round(policy.max_distance_age_s * 1000)
    limits = [now_ms - days * DAY_MS for days in AGE_DAYS]
    with db.read() as tx:
        fleet = [row for row in agents.all_agents(tx) if row.retired_ms is None]
        number = rounds.last_number(tx)
        ages = {row.agent_id: row for row in probe_coverage.ages_by_agent(tx, [*limits, fresh_ms])}
        orders = probe_coverage.orders_by_agent(tx, number)
        known = probe_coverage.probed_hosts(tx)
        fresh = probe_coverage.fresh_hosts(tx, fresh_ms)
        elsewhere = probe_coverage.fresh_by_agent_elsewhere(tx, fresh_ms)
        controls = probe_coverage.control_hosts(tx)
    found = []
    for row in fleet:
        seen = ages.get(row.id)
        younger = seen.younger if seen is not None else (0,) * (len(limits) + 1)
        held = seen.distances if seen is not None else 0
        steps = [0, *younger[: len(limits)], held]
        found.append(
            AgentCoverage(
                agent=row.name,
                measured=held,
                fresh=younger[-1] - elsewhere.get(row.id, 0),
                unreachable=seen.unreachable if seen is not None else 0,
                ages=[upper - lower for lower, upper in pairwise(steps)],
                waiting=orders.get((row.id, "waiting"), 0),
                under_way=orders.get((row.id, "granted"), 0) + orders.get((row.id, "finished"), 0),
                failed=orders.get((row.id, "failed"), 0),
                not_needed=orders.get((row.id, "not_needed"), 0),
                suspect_since_ms=row.suspect_since_ms,
                suspect_reason=row.suspect_reason if row.suspect_since_ms is not None else None,
            )
        )
    return Coverage(
        known, fresh, policy.max_distance_age_s * 1000 / DAY_MS, number, found, controls
    )
