"""The numbers that operations go by; the settings give them, tests choose their own.

Every field has a unit in its name. Defaults are those of the settings, which say the reasons.
"""

from __future__ import annotations

from typing import Final

from shared.frozen import frozen

__all__ = ["DEFAULT_POLICY", "Policy"]

HOUR_S: Final = 3600
DAY_S: Final = 86400


@frozen
class Policy:
    """Policy of operations: lifetimes of rights, probe sizes, batch sizes."""

    permit_s: float = 2 * HOUR_S
    grace_s: float = HOUR_S / 2
    plain_renewal_s: float = 26 * HOUR_S  # a plain agent sleeps by day
    tick_s: float = 5.0
    gap_s: float = 60.0  # between two ticks: more is an outage or a clock that jumped
    next_poll_s: float = 60.0
    soon_poll_s: float = 5.0  # when the agent has something to take at once
    syncs_per_s: float = 50.0  # of the whole fleet; with more agents each has to call less often

    probe_pages: int = 50
    probe_fresh_s: float = 30 * DAY_S
    probe_timeout_s: float = 6 * HOUR_S
    plain_probe_timeout_s: float = 60 * HOUR_S  # two nights and a day
    log_grace_s: float = 120.0  # after the last unit was finished; then a log counts as lost
    probe_everywhere_pairs: int = 2_000_000  # hosts x agents; above, a host is probed by some
    probes_of_a_host: int = 5  # ... by so many: finder, owner, their neighbours, others
    controls_of_an_agent: int = 3  # hosts that tell a sick agent from a sick host
    control_fresh_s: float = DAY_S
    control_factor: float = 20.0  # slower or faster than for others: the agent is suspect
    distance_trust: float = 10.0  # what it claims counts within this factor of the others'
    probes_of_a_host_a_day: int = 40  # one at a time: 50 pages at 20 s take 17 minutes
    probe_pages_a_day: int = 1_000_000  # of one agent: 20,000 hosts
    probe_large_share: float = 0.02  # of the hosts, the largest: probed by everybody
    probes_at_once: int = 400  # of one agent, and at most twice its parallel hosts

    refetch_share: float = 0.01  # of an agent's requests, fetched again by others and compared
    refetch_pages_least: int = 30  # ... of a round, where it has so many
    refetch_pages_most: int = 200  # ... and at most

    discoveries_per_day: int = 1_000_000
    start_pages_per_unit: int = 1_000
    resolve_fresh_s: float = 7 * DAY_S
    resolve_retry_s: float = 600.0  # doubled with each failure, up to a day

    plan_moves: float = 0.1  # share of the placed units that a plan of `default` may move
    compare_s: float = 20.0  # for the methods that were not chosen, when a plan is previewed
    split_interval_s: float = 20.0  # between two requests to a split host, from all agents

    batch: int = 5_000  # rows that one step of a tick handles of one agent


DEFAULT_POLICY: Final = Policy()
