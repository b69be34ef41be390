"""Tables by subject. Every time is an integer: milliseconds since 1970, UTC.

`archive` segments and their hosts, missing and damaged files; `clients` third parties and their
downloads; `managers` the managers themselves, and alerts; `people` users, sessions, tokens, audit;
`fleet` agents, join tokens, rules for all agents, the clock; `hosts` hosts, units, addresses, start
pages; `work` assignments, people's decisions about owners, rights, probe orders, distances;
`rounds` rounds, plans, the units of a round; `records` reports, the sums made from them, and pages
that are fetched again; `collection` segments that agents send, and schedules; `releases` versions
of the agent.
Invariants that the database itself holds are constraints; the rest is in `consistency_checks`.
"""

from manager.db.tables.archive import (
    archive_changes,
    arrivals,
    file_problems,
    scrubs,
    segment_hosts,
    segments,
    withdrawals,
)
from manager.db.tables.clients import (
    archive_jobs,
    client_tokens,
    client_usage,
    clients,
    downloads,
    job_hosts,
)
from manager.db.tables.collection import collection_orders, collection_schedules, transfers
from manager.db.tables.columns import metadata
from manager.db.tables.fleet import agents, blocked_urls, clock, fleet_limits, join_tokens
from manager.db.tables.hosts import (
    address_rules,
    address_seats,
    country_files,
    crawl_delays,
    crawl_scopes,
    host_addresses,
    host_splits,
    hosts,
    start_page_news,
    start_pages,
    units,
)
from manager.db.tables.managers import (
    alert_silences,
    alerts_told,
    installation,
    leader,
    lease_stamps,
    managers,
)
from manager.db.tables.people import api_tokens, audit, login_failures, sessions, users
from manager.db.tables.records import (
    activity,
    directory_sums,
    host_sums,
    refetch_orders,
    refetch_pages,
    reports,
)
from manager.db.tables.releases import (
    agent_releases,
    release_metadata,
    release_policy,
    releases,
    update_reports,
)
from manager.db.tables.rounds import (
    plan_moves,
    plans,
    round_link_kinds,
    round_schedules,
    rounds,
    unit_rounds,
)
from manager.db.tables.work import (
    assignments,
    bans,
    distance_model,
    distances,
    holdings,
    host_rests,
    pins,
    probe_orders,
    rights,
)

__all__ = [
    "activity",
    "address_rules",
    "address_seats",
    "agent_releases",
    "agents",
    "alert_silences",
    "alerts_told",
    "api_tokens",
    "archive_changes",
    "archive_jobs",
    "arrivals",
    "assignments",
    "audit",
    "bans",
    "blocked_urls",
    "client_tokens",
    "client_usage",
    "clients",
    "clock",
    "collection_orders",
    "collection_schedules",
    "country_files",
    "crawl_delays",
    "crawl_scopes",
    "directory_sums",
    "distance_model",
    "distances",
    "downloads",
    "file_problems",
    "fleet_limits",
    "holdings",
    "host_addresses",
    "host_rests",
    "host_splits",
    "host_sums",
    "hosts",
    "installation",
    "job_hosts",
    "join_tokens",
    "leader",
    "lease_stamps",
    "login_failures",
    "managers",
    "metadata",
    "pins",
    "plan_moves",
    "plans",
    "probe_orders",
    "refetch_orders",
    "refetch_pages",
    "release_metadata",
    "release_policy",
    "releases",
    "reports",
    "rights",
    "round_link_kinds",
    "round_schedules",
    "rounds",
    "scrubs",
    "segment_hosts",
    "segments",
    "sessions",
    "start_page_news",
    "start_pages",
    "transfers",
    "unit_rounds",
    "units",
    "update_reports",
    "users",
    "withdrawals",
]
