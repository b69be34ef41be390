"""The settings that the operations go by: how long rights last, what is measured.

Names and defaults are those of `manager.operations.policy.Policy`, which is made from these.
"""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import setting

__all__ = ["PolicySettings"]

HOUR_S, DAY_S = 3600, 86400


@frozen
class PolicySettings:
    """How long rights last, what is measured, and how much is done at once."""

    permit_s: float = setting(
        2.0 * HOUR_S,
        unit="s",
        least=10,
        most=DAY_S,
        reason="the outage that agents survive, and the delay of a take-over",
    )
    grace_s: float = setting(
        0.5 * HOUR_S,
        unit="s",
        least=1,
        most=7 * DAY_S,
        reason="an agent may be this much later than it promised before it is lost",
    )
    plain_renewal_s: float = setting(
        26.0 * HOUR_S,
        unit="s",
        least=10,
        most=30 * DAY_S,
        reason="an agent of the five messages sleeps by day and calls once a night",
    )
    tick_s: float = setting(
        5.0,
        unit="s",
        least=0.1,
        most=600,
        reason="how soon a report leads to the next list; a tick with nothing to do is cheap",
    )
    gap_s: float = setting(
        60.0,
        unit="s",
        least=1,
        most=HOUR_S,
        reason="more than this between two ticks was an outage or a clock that jumped",
    )
    next_poll_s: float = setting(
        60.0,
        unit="s",
        least=0.2,
        most=HOUR_S,
        reason="how often an agent syncs; 1,000 agents are then 17 requests a second",
    )
    soon_poll_s: float = setting(
        5.0,
        unit="s",
        least=0.1,
        most=HOUR_S,
        reason="the same when there is something for the agent to take",
    )
    syncs_per_s: float = setting(
        50.0,
        unit="requests/s",
        least=0.1,
        most=100000,
        reason="of the whole fleet; a larger one is told to call less often",
    )
    probe_pages: int = setting(
        50, unit="pages", least=1, most=10000, reason="what the source measures a host with"
    )
    probe_fresh_s: float = setting(
        30.0 * DAY_S,
        unit="s",
        least=1,
        most=3650 * DAY_S,
        reason="a distance older than this is measured again",
    )
    probe_timeout_s: float = setting(
        6.0 * HOUR_S,
        unit="s",
        least=10,
        most=30 * DAY_S,
        reason="50 pages at 20 s take 17 minutes; an order this old goes back to the queue",
    )
    plain_probe_timeout_s: float = setting(
        60.0 * HOUR_S,
        unit="s",
        least=10,
        most=60 * DAY_S,
        reason="the same for a plain agent: two nights and a day",
    )
    log_grace_s: float = setting(
        120.0,
        unit="s",
        least=1,
        most=DAY_S,
        reason="after the last unit was finished; then its log counts as lost",
    )
    probe_everywhere_pairs: int = setting(
        2_000_000,
        unit="pairs",
        least=0,
        most=10**12,
        reason="hosts times agents; above, a host is probed by some agents only",
    )
    probes_of_a_host: int = setting(
        5,
        unit="agents",
        least=1,
        most=10000,
        reason="by so many: its finder, its owner, neighbours of these, the rest by its number",
    )
    controls_of_an_agent: int = setting(
        3,
        unit="hosts",
        least=0,
        most=1000,
        reason="that each agent probes with every round, to tell a sick agent from a sick host; "
        "one host may be slow from one place, of three two may not",
    )
    control_fresh_s: float = setting(
        1.0 * DAY_S,
        unit="s",
        least=1,
        most=3650 * DAY_S,
        reason="a control host that was probed within it is not probed again",
    )
    control_factor: float = setting(
        20.0,
        unit="times",
        least=1.5,
        most=10**6,
        reason="an agent is suspect whose control hosts are so much slower or faster than for "
        "others; the source's slowest agent was 17 times slower than the median",
    )
    distance_trust: float = setting(
        10.0,
        unit="times",
        least=1,
        most=10**6,
        reason="an agent that claims to be nearer than a tenth of what a quarter of the others "
        "measured is believed that tenth; on the same campus it may be that near",
    )
    probes_of_a_host_a_day: int = setting(
        40,
        unit="agents",
        least=1,
        most=10000,
        reason="a host is with one agent at a time, and 50 pages at 20 s take 17 minutes: so many "
        "take half a day",
    )
    probe_pages_a_day: int = setting(
        1_000_000,
        unit="pages",
        least=1,
        most=10**12,
        reason="of one agent: 20,000 hosts of 50 pages, a day of a machine that fetches 12 "
        "a second; what is over it is predicted",
    )
    probe_large_share: float = setting(
        0.02,
        unit="share",
        least=0,
        most=1,
        reason="the largest hosts, half of all bytes, are probed by everybody",
    )
    probes_at_once: int = setting(
        400,
        unit="hosts",
        least=1,
        most=100000,
        reason="of one agent, and at most twice the hosts that it fetches from in parallel: while "
        "it has them nobody else can probe them",
    )
    refetch_share: float = setting(
        0.01,
        unit="share",
        least=0,
        most=1,
        reason="of an agent's requests in a round, fetched again by other agents and compared: an "
        "agent that invents is found, and hosts hardly notice; 0: none",
    )
    refetch_pages_least: int = setting(
        30,
        unit="pages",
        least=0,
        most=10_000,
        reason="of a round and agent: a hundredth of a small crawl is too little to judge by",
    )
    refetch_pages_most: int = setting(
        200,
        unit="pages",
        least=1,
        most=10_000,
        reason="of a round and agent: more do not make the judgement surer",
    )
    start_pages_per_unit: int = setting(
        1_000,
        unit="pages",
        least=0,
        most=10**6,
        reason="pages of a unit that others found; more are not kept",
    )
    plan_moves: float = setting(
        0.1,
        unit="share",
        least=0,
        most=1,
        reason="of the placed units that the default method may move in a round: a unit is fetched "
        "whole by its new agent; at a tenth the makespan stays within 4% of the bound, and without "
        "a limit half of the units would move in each round",
    )
    resolve_fresh_s: float = setting(
        7.0 * DAY_S,
        unit="s",
        least=60,
        most=3650 * DAY_S,
        reason="a name is asked about again after a week",
    )
    resolve_retry_s: float = setting(
        600.0,
        unit="s",
        least=1,
        most=DAY_S,
        reason="after a failure; doubled with each, up to a day",
    )
    compare_s: float = setting(
        20.0,
        unit="s",
        least=0,
        most=HOUR_S,
        reason="for the methods that were not chosen, when a plan is previewed; a person waits",
    )
    split_interval_s: float = setting(
        20.0,
        unit="s",
        least=0,
        most=DAY_S,
        reason="between two requests to a split host, whoever sends them; as agents keep it alone",
    )
    batch: int = setting(
        5_000,
        unit="rows",
        least=10,
        most=10**6,
        reason="what one step of a tick handles of one agent",
    )
    join_token_s: float = setting(
        72.0 * HOUR_S,
        unit="s",
        least=60,
        most=30 * DAY_S,
        reason="a partner installs within a long week-end; a forgotten token must die",
    )
