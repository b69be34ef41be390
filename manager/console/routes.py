"""All routes of the console with the least role for each, and all tables."""

from __future__ import annotations

from typing import Any, Final

from manager.console.pages import events, robot_information, search, settings
from manager.console.pages.archive import archive, captures, client, downloads, file_problems
from manager.console.pages.fleet import (
    agent,
    agent_map,
    agent_tables,
    agents,
    fleet_rules,
    join_tokens,
    log_comparison,
    restart,
)
from manager.console.pages.health import activity, alerts, overview
from manager.console.pages.hosts import host, host_split, host_tables, hosts, scope, splits
from manager.console.pages.logs import logs, reports
from manager.console.pages.people import audit_log, sessions, tokens, users
from manager.console.pages.planning import (
    balance,
    plan_tables,
    plans,
    probe_matrix,
    probe_orders,
    probe_pairs,
    probes,
    spanning_tree,
)
from manager.console.pages.releases import release_agents, release_files, releases
from manager.console.pages.rounds import round_tables, rounds
from manager.console.pages.segments import collection, collection_orders, trash, withdrawn_hosts
from manager.console.requests.page import Page
from manager.console.tables.table import Table, TablePage

__all__ = ["PAGES", "TABLES"]

PAGES: Final[tuple[Page, ...]] = (
    *sessions.PAGES,
    *overview.PAGES,
    *activity.PAGES,
    *agents.PAGES,
    *agent_map.PAGES,
    *agent.PAGES,
    *agent_tables.PAGES,
    *log_comparison.PAGES,
    *join_tokens.PAGES,
    *restart.PAGES,
    *robot_information.PAGES,
    *search.PAGES,
    *captures.PAGES,
    *hosts.PAGES,
    *host.PAGES,
    *host_tables.PAGES,
    *host_split.PAGES,
    *splits.PAGES,
    *scope.PAGES,
    *rounds.PAGES,
    *round_tables.PAGES,
    *balance.PAGES,
    *plans.PAGES,
    *plan_tables.PAGES,
    *spanning_tree.PAGES,
    *probes.PAGES,
    *probe_matrix.PAGES,
    *probe_pairs.PAGES,
    *probe_orders.PAGES,
    *reports.PAGES,
    *logs.PAGES,
    *collection.PAGES,
    *collection_orders.PAGES,
    *archive.PAGES,
    *file_problems.PAGES,
    *client.PAGES,
    *downloads.PAGES,
    *withdrawn_hosts.PAGES,
    *trash.PAGES,
    *releases.PAGES,
    *release_files.PAGES,
    *release_agents.PAGES,
    *alerts.PAGES,
    *settings.PAGES,
    *fleet_rules.PAGES,
    *tokens.PAGES,
    *audit_log.PAGES,
    *events.PAGES,
    *users.PAGES,
)

TABLES: Final[tuple[Table[Any], ...]] = tuple(
    {page.table.name: page.table for page in PAGES if isinstance(page, TablePage)}.values()
)
"""All tables, each once."""
