"""All routes of the console: what there is, and the least role for each."""

from __future__ import annotations

from typing import Final

from manager.console.access import Page
from manager.console.pages import (
    agent,
    agents,
    audit,
    client,
    collection,
    data,
    downloads,
    events,
    host,
    hosts,
    joining,
    logs,
    overview,
    plans,
    reports,
    restart,
    rounds,
    sessions,
    splitting,
    users,
    withdrawn,
)

__all__ = ["PAGES"]

PAGES: Final[tuple[Page, ...]] = (
    *sessions.PAGES,
    *overview.PAGES,
    *agents.PAGES,
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
    *audit.PAGES,
    *events.PAGES,
    *users.PAGES,
)
