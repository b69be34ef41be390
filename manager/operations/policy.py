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
    plain_permit_s: float = 26 * HOUR_S  # a plain agent sleeps by day
    tick_s: float = 5.0
    max_tick_gap_s: float = 60.0  # between two ticks: more is an outage or a clock that jumped
    sync_interval_s: float = 60.0
    pending_sync_interval_s: float = 5.0  # when the agent has something to take at once
    syncs_per_s: float = 50.0  # of the whole fleet; with more agents each has to call less often

    probe_pages: int = 50
    max_distance_age_s: float = 30 * DAY_S
    probe_timeout_s: float = 6 * HOUR_S
    plain_probe_timeout_s: float = 60 * HOUR_S  # two nights and a day
    log_timeout_s: float = 120.0  # after the last unit was finished; then a log counts as lost
    max_full_probe_pairs: int = 2_000_000  # hosts x agents; above, a host is probed by some
    probes_per_host: int = 5  # ... by so many: finder, owner, their neighbours, others
    control_hosts_per_agent: int = 3  # hosts that tell a sick agent from a sick host
    max_control_probe_age_s: float = DAY_S
    control_factor: float = 20.0  # slower or faster than for others: the agent is suspect
    distance_outlier_factor: float = 10.0  # what it claims counts within this factor of the others'
    probes_per_host_per_day: int = 40  # one at a time: 50 pages at 20 s take 17 minutes
    probe_pages_per_day: int = 1_000_000  # of one agent: 20,000 hosts
    probe_large_share: float = 0.02  # of the hosts, the largest: probed by everybody
    parallel_probes: int = 400  # of one agent, and at most twice its parallel hosts

    refetch_share: float = 0.01  # of an agent's requests, fetched again by others and compared
    min_refetch_pages: int = 30  # ... of a round, where it has so many
    max_refetch_pages: int = 200  # ... and at most

    discoveries_per_day: int = 1_000_000
    start_pages_per_unit: int = 1_000
    max_address_age_s: float = 7 * DAY_S
    dns_retry_delay_s: float = 600.0  # doubled with each failure, up to a day

    plan_moves: float = 0.1  # share of the placed units that a plan of `default` may move
    plan_comparison_s: float = 20.0  # for other methods, when a plan is previewed
    split_interval_s: float = 20.0  # between two requests to a split host, from all agents

    tick_batch_rows: int = 5_000  # rows that one step of a tick handles of one agent


DEFAULT_POLICY: Final = Policy()
