"""All routes of the console: what there is, and the least role for each."""

from __future__ import annotations

from typing import Final

from manager.console.access import Page
from manager.console.pages import (
    agent,
    agents,
    agents_map,
    alerts,
    audit,
    client,
    collection,
    data,
    downloads,
    events,
    fleet_rules,
    host,
    hosts,
    joining,
    logs,
    overview,
    plans,
    release_agents,
    releases,
    reports,
    restart,
    rounds,
    sessions,
    settings,
    splitting,
    tokens,
    users,
    withdrawn,
)

__all__ = ["PAGES"]

PAGES: Final[tuple[Page, ...]] = (
    *sessions.PAGES,
    *overview.PAGES,
    *agents.PAGES,
    *agents_map.PAGES,
    *agent.PAGES,
    *joining.PAGES,
    *restart.PAGES,
    *hosts.PAGES,
    *host.PAGES,
    *splitting.PAGES,
    *rounds.PAGES,
    *plans.PAGES,
    *reports.PAGES,
    *logs.PAGES,
    *collection.PAGES,
    *data.PAGES,
    *client.PAGES,
    *downloads.PAGES,
    *withdrawn.PAGES,
    *releases.PAGES,
    *release_agents.PAGES,
    *alerts.PAGES,
    *settings.PAGES,
    *fleet_rules.PAGES,
    *tokens.PAGES,
    *audit.PAGES,
    *events.PAGES,
    *users.PAGES,
)
