"""The settings that the operations go by: how long rights last, what is measured.

`manager.operations.policy.Policy` extends them, so a name and its default stand here only.
"""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["SPLITS", "PolicySettings"]

HOUR_S, DAY_S = 3600, 86400
SPLITS = ("off", "propose", "apply")


@frozen
class PolicySettings:
    """Duration of rights, extent of measurements, and amount of concurrent work."""

    permit_s: float = setting(
        2.0 * HOUR_S,
        Range("s", 10, DAY_S),
        "how long an agent may crawl without the manager; the hosts of a dead agent wait as long "
        "for another",
    )
    grace_s: float = setting(
        0.5 * HOUR_S,
        Range("s", 1, 7 * DAY_S),
        "how much later than promised an agent may call before it counts as lost",
    )
    plain_permit_s: float = setting(
        26.0 * HOUR_S,
        Range("s", 10, 30 * DAY_S),
        "how long the permit of a plain agent lasts, which knows only the five messages; it sleeps "
        "by day and calls once a night",
    )
    tick_s: float = setting(
        5.0,
        Range("s", 0.1, 600),
        "how often the manager's clock ticks, and so how soon a report leads to the next list; a "
        "tick with nothing to do is cheap",
    )
    max_tick_gap_s: float = setting(
        60.0,
        Range("s", 1, HOUR_S),
        "longest time between two ticks that is no outage; after more (an outage, a clock that "
        "jumped) permits are moved by as much",
    )
    sync_interval_s: float = setting(
        60.0,
        Range("s", 0.2, HOUR_S),
        "how often an agent syncs; 1,000 agents are then 17 requests a second",
    )
    pending_sync_interval_s: float = setting(
        5.0,
        Range("s", 0.1, HOUR_S),
        "how soon an agent syncs again when there is something for it to take",
    )
    syncs_per_s: float = setting(
        50.0,
        Range("requests/s", 0.1, 100000),
        "how many syncs the whole fleet may make in a second; agents of a larger fleet get "
        "longer intervals",
    )
    probe_pages: int = setting(
        50,
        Range("pages", 1, 10000),
        "how many pages of a host an agent fetches to measure the distance to it; as in the "
        "original paper",
    )
    max_distance_age_s: float = setting(
        30.0 * DAY_S,
        Range("s", 1, 3650 * DAY_S),
        "how long a measured distance holds; an older one is measured again",
    )
    probe_timeout_s: float = setting(
        6.0 * HOUR_S,
        Range("s", 10, 30 * DAY_S),
        "how long an agent may take to probe a host before that is given up; 50 pages at 20 s take "
        "17 minutes",
    )
    plain_probe_timeout_s: float = setting(
        60.0 * HOUR_S,
        Range("s", 10, 60 * DAY_S),
        "how long a plain agent may take to probe a host before that is given up; it calls once a "
        "night: two nights and a day",
    )
    log_timeout_s: float = setting(
        120.0,
        Range("s", 1, DAY_S),
        "how long the log of a finished unit may take to come before it counts as lost",
    )
    max_full_probe_pairs: int = setting(
        0,
        Range("pairs", 0, 10**12),
        "up to so many pairs of host and agent, every agent probes every host, as in the original "
        "paper; above, probes are ordered by what they are worth",
    )
    probes_per_host: int = setting(
        3,
        Range("agents", 1, 10000),
        "how many agents probe a host at the start of a round; its finder, its owner, neighbours "
        "of these, the rest by its number",
    )
    probe_steps: int = setting(
        4,
        Range("steps", 0, 1000),
        "how many times a round orders more probes, after what the first have shown; 4 agents of "
        "a host at most each time",
    )
    probe_gain: float = setting(
        0.03,
        Range("share", 0, 10**6),
        "least work that a further probe is expected to save, as a share of the work of its pages; "
        "a greater share orders fewer probes, and crawls end later",
    )
    whole_host_probe_gain: float = setting(
        1.0,
        Range("share", 0, 10**6),
        "the same for a host that a probe sees whole: another probe fetches all of it once more, "
        "and so does a move; such a host is probed by one agent at the start of a round",
    )
    whole_host_check_share: float = setting(
        0.1,
        Range("share", 0, 1),
        "what share of the hosts that a probe saw whole is probed by a second agent, so that an "
        "agent that leaves pages out is found; drawn, so that no agent knows which",
    )
    whole_hosts_most_share: float = setting(
        0.5,
        Range("share", 0, 1),
        "up to which share of a round's hosts those that a probe saw whole are spared other "
        "probes; where more are so small, they are the crawl, and their distances decide its end",
    )
    control_hosts_per_agent: int = setting(
        3,
        Range("hosts", 0, 1000),
        "how many control hosts each agent probes with every round, to tell a sick agent from a "
        "sick host; one host may be slow from one place, of three two may not",
    )
    max_control_probe_age_s: float = setting(
        1.0 * DAY_S,
        Range("s", 1, 3650 * DAY_S),
        "how long an agent's probe of a control host holds before it is made again",
    )
    control_factor: float = setting(
        20.0,
        Range("times", 1.5, 10**6),
        "an agent is suspect whose control hosts are so many times slower or faster than for "
        "others; the slowest of the original paper took 17 times the median",
    )
    distance_outlier_factor: float = setting(
        10.0,
        Range("times", 1, 10**6),
        "how many times nearer than a quarter of the others measured an agent may claim to be; a "
        "nearer claim counts as this; on the same campus ten is possible",
    )
    probes_per_host_per_day: int = setting(
        40,
        Range("agents", 1, 10000),
        "how many agents may probe one host in a day, one after the other; 40 take half a day, "
        "each 17 minutes for 50 pages at 20 s",
    )
    probe_pages_per_day: int = setting(
        1_000_000,
        Range("pages", 1, 10**12),
        "how many pages one agent is given to probe in a day; the default is 20,000 hosts of 50 "
        "pages; what is over it is predicted",
    )
    probe_large_share: float = setting(
        0.02,
        Range("share", 0, 1),
        "what share of the hosts, the largest, is probed by every agent; the largest 2% have half "
        "of all bytes",
    )
    parallel_probes: int = setting(
        400,
        Range("hosts", 1, 100000),
        "how many hosts one agent may hold for probing, at most twice those that it fetches from "
        "in parallel; nobody else can probe them meanwhile",
    )
    refetch_share: float = setting(
        0.01,
        Range("share", 0, 1),
        "what share of an agent's requests of a round other agents fetch again to compare; an "
        "agent that invents is found, and hosts hardly notice; 0: none",
    )
    min_refetch_pages: int = setting(
        30,
        Range("pages", 0, 10_000),
        "at least so many pages of each agent are fetched again after a round; a hundredth of a "
        "small crawl is too little to judge by",
    )
    max_refetch_pages: int = setting(
        200,
        Range("pages", 1, 10_000),
        "at most so many pages of each agent are fetched again after a round; more do not make the "
        "judgement surer",
    )
    start_pages_per_unit: int = setting(
        10_000,
        Range("pages", 0, 10**6),
        "how many start pages of a unit its agent is sent, which other agents found or a list "
        "brought, the most referred first; as many again are kept in reserve, more are counted",
    )
    start_page_delay_s: float = setting(
        900.0,
        Range("s", 0, DAY_S),
        "how long new start pages of an agent's units wait for others before its list is renewed; "
        "an agent without work gets them at once",
    )
    reopenings_per_unit: int = setting(
        10,
        Range("times", 0, 10_000),
        "how often a unit that is done continues in the same round because start pages came later; "
        "later pages are fetched in the next round; 0: never",
    )
    plan_moves: float = setting(
        0.1,
        Range("share", 0, 1),
        "what share of the placed units a plan of the default method may move; a unit is fetched "
        "whole by its new agent; a tenth keeps the makespan within 4% of the bound",
    )
    plan_by_transfer: bool = setting(
        False,
        "yes/no",
        "whether the default method makes the greatest transfer cost of an agent small, as in the "
        "original paper, and not the time until the whole crawl has ended",
    )
    plan_error: float = setting(
        0.15,
        Range("share", 0, 1),
        "by what share predicted ends may be wrong; a plan moves no unit that gains less",
    )
    max_address_age_s: float = setting(
        7.0 * DAY_S,
        Range("s", 60, 3650 * DAY_S),
        "how long the addresses of a host hold before its name is looked up again",
    )
    dns_retry_delay_s: float = setting(
        600.0,
        Range("s", 1, DAY_S),
        "how long after a failure a host's name is looked up again; doubled with each, up to a day",
    )
    plan_comparison_s: float = setting(
        20.0,
        Range("s", 0, HOUR_S),
        "how long a preview of a plan also tries the methods that were not chosen; a person waits",
    )
    split_interval_s: float = setting(
        0.0,
        Range("s", 0, DAY_S),
        "pause between two requests to a split host, whoever sends them; 0: what its owner keeps "
        "alone, so that a split never raises the rate at a host; less only where hosts allow it",
    )
    splits: str = setting(
        "propose",
        "text",
        "whether hosts are split and merged by prediction: `off`, `propose` (a person applies "
        "them), or `apply` (with the next round; a split that a person made stays)",
    )
    slow_host_s: float = setting(
        DAY_S,
        Range("s", 60, 3650 * DAY_S),
        "a host that takes longer is listed as slow, with what would help; where the round has a "
        "deadline, that counts; as the original paper means to crawl all in a day",
    )
    shared_address_domains: int = setting(
        20,
        Range("domains", 1, 10**6),
        "most registrable domains of an address that counts as one server; with more it is shared, "
        "and its sites are asked independently within a rate for the whole address; ten blogs on a "
        "small server stay one",
    )
    shared_least_interval_s: float = setting(
        0.2,
        Range("s", 0.001, DAY_S),
        "shortest pause between two requests to a shared address, however many domains it has; "
        "else it is the agents' interval divided by the square root of the domains",
    )
    shared_networks: tuple[str, ...] = setting(
        (),
        "networks",
        "address ranges that many sites share, beside those of the list of CDNs in the program; "
        '["203.0.113.0/24"]',
    )
    tick_batch_rows: int = setting(
        5_000,
        Range("rows", 10, 10**6),
        "how many units of one agent one step of a tick handles; the rest follows with the next",
    )
    join_token_s: float = setting(
        72.0 * HOUR_S,
        Range("s", 60, 30 * DAY_S),
        "how long a new join token can be used; a partner installs within a long week-end; a "
        "forgotten token must die",
    )
