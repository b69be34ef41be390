"""The first page: is the crawl healthy, is it even, what needs me?

What is live on it (`#live`) is asked for again every few seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from manager.assignment.liveness import LivenessState
from manager.console.drawings.stacked_bars import BarSection, stacked
from manager.console.notices import (
    Notice,
    few_notices,
    manager_notices,
    notices,
    signature_notices,
    tick_notices,
)
from manager.console.pages.health.activity import activity_of
from manager.console.pages.rounds.round_progress import RoundProgress, progress_of
from manager.console.pages.rounds.round_tables import PROGRESS
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.operations.fleet.agent_summaries import (
    AgentOverview,
    agent_overviews,
    agents_with_alerts,
)
from manager.operations.fleet.agents import AgentView, agent_views
from manager.operations.health.alert_events import current_key
from manager.operations.health.alert_rules import DISK_BYTES, REPORTS_WAITING, SKEW_MS, few_hosts
from manager.operations.health.silences import list_silences
from manager.operations.hosts.host_views import count_hosts
from manager.operations.identity.managers import list_managers
from manager.operations.ownership.pin_rules import ineffective_rules_of
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plans import last_applied
from manager.operations.releases.release_views import list_releases, running_out
from manager.operations.rounds.rounds import list_rounds, round_detail
from shared.frozen import frozen

__all__ = ["PAGES"]

ALERT_MS: Final = 24 * 3_600_000
NOTICES_MOST: Final = 12
STATES: Final = tuple(state.value for state in LivenessState)
COVERED: Final = ("placed", "excluded")
"""Host states that fill the bar; a host that waits for an owner is part of its hollow rest."""


@frozen
class HostNumbers:
    """Counts of hosts: known, with an owner, waiting for one, excluded; the parts of their bar."""

    known: int
    covered: int
    waiting: int
    excluded: int
    parts: list[BarSection]


def overview(visit: Visit) -> Response:
    """Show how things are."""
    agents = agent_overviews(visit.db, visit.now_ms, visit.policy)
    hosts = _host_numbers(visit)
    alerts = audit_page(visit.db, limit=50, alerts=True)
    recent = [row for row in alerts if visit.now_ms - row.at_ms <= ALERT_MS]
    managers = list_managers(visit.db)
    wanting = tick_notices(managers, visit.now_ms) + manager_notices(managers)
    share = visit.services.settings.alerts.min_reachable_share
    wanting += few_notices(few_hosts(visit.db, agents, share))
    wanting += signature_notices(running_out(visit.db, visit.now_ms), visit.now_ms)
    wanting += notices(
        _with_alerts(visit, agents),
        recent,
        ineffective_rules_of(visit.db),
        visit.now_ms,
        _given_up(visit),
    )
    loud = _not_silenced(visit, wanting)
    progress = _progress(visit)
    return visit.page(
        "overview.html",
        agents=agents,
        groups=_groups(agents),
        live_agents=sum(1 for view in agents if view.row.retired_ms is None),
        hosts=hosts,
        progress=progress,
        progress_rows=PROGRESS.part(visit, progress.agents if progress is not None else []),
        plan=last_applied(visit.db),
        notices=loud[:NOTICES_MOST],
        notices_left=max(0, len(loud) - NOTICES_MOST),
        silenced=len(wanting) - len(loud),
        steps=_first_steps(agents, hosts, progress),
        newest=max((view.row for view in agents), key=lambda row: row.joined_ms, default=None),
        activity=activity_of(visit),
    )


def _not_silenced(visit: Visit, wanting: Sequence[Notice]) -> list[Notice]:
    """Return the notices except those of acknowledged alerts."""
    silences = list_silences(visit.db, visit.now_ms)
    known = {current_key(row.key) for row in silences if row.key and row.holds(visit.now_ms)}
    return [notice for notice in wanting if notice.alert not in known]


def _with_alerts(visit: Visit, agents: list[AgentOverview]) -> list[AgentView]:
    """Return the agents of which there may be something to tell."""
    numbers = agents_with_alerts(
        visit.db, skew_ms=SKEW_MS, disk_bytes=DISK_BYTES, reports=REPORTS_WAITING
    )
    found = [one.row.id for one in agents if one.liveness.attention or one.row.id in numbers]
    return agent_views(visit.db, found, visit.now_ms, visit.policy)


def _given_up(visit: Visit) -> set[str]:
    """Return the releases that are no longer offered to any agent."""
    found = list_releases(visit.db).releases
    return {row.version for row in found if row.halted_ms or row.revoked_ms}


def _groups(agents: list[AgentOverview]) -> list[tuple[str, list[AgentOverview]]]:
    """Return the states that agents are in, each with its agents."""
    by_state = {state: [one for one in agents if one.liveness.state == state] for state in STATES}
    return [(state, found) for state, found in by_state.items() if found and state != "retired"]


def _host_numbers(visit: Visit) -> HostNumbers:
    by_state = count_hosts(visit.db)
    known = sum(by_state.values())
    return HostNumbers(
        known,
        by_state["placed"],
        by_state["new"] + by_state["idle"] + by_state["probing"],
        by_state["excluded"],
        stacked([(state, by_state[state]) for state in COVERED], whole=float(known)),
    )


def _progress(visit: Visit) -> RoundProgress | None:
    newest = list_rounds(visit.db, 1)
    if not newest:
        return None
    return progress_of(round_detail(visit.db, newest[0].number, with_plan=False), visit.now_ms)


def _first_steps(
    agents: list[AgentOverview], hosts: HostNumbers, progress: RoundProgress | None
) -> list[dict[str, Any]]:
    """Return what to do before anything can be crawled; nothing once a round was started."""
    if progress is not None:
        return []
    called = any(view.row.last_contact_ms is not None for view in agents)
    return [
        {"done": bool(agents), "what": "agent"},
        {"done": called, "what": "contact"},
        {"done": hosts.known > 0, "what": "hosts"},
        {"done": False, "what": "round"},
    ]


PAGES: Final = (Page("GET", "/", "viewer", overview, query=("range",)),)
