"""The tables of an agent's page, whole and as CSV: its rounds, and what others fetched again.

Its units, reports and history are the general lists, filtered by the agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console.csv_export import Cell, csv_response
from manager.console.pages.rounds.round_progress import UNIT_STATES
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.fleet.agent_rounds import AgentRound, every_round_of_agent
from manager.operations.measurement.refetch_results import RefetchedPage, refetches_of

__all__ = ["PAGES"]

ROUNDS_HEADER: Final = (
    "round",
    "method",
    "state",
    "units",
    *(f"units {state}" for state in UNIT_STATES),
    "pages",
    "received (bytes)",
    "measured (ms)",
)
REFETCHED_HEADER: Final = (
    "page",
    "crawled by",
    "seen by",
    "status",
    "received (bytes)",
    "verdict on the agent",
)
VERDICTS: Final = {True: "others agree", False: "contradicted", None: "nobody can say"}


def export_rounds(visit: Visit) -> Response:
    """Send an agent's part of all its rounds as CSV."""
    found = every_round_of_agent(visit.db, visit.query.get("name", ""))
    return csv_response("agent-rounds", ROUNDS_HEADER, map(_round, found))


def _round(one: AgentRound) -> list[Cell]:
    return [
        one.round.number,
        one.round.method,
        one.round.state,
        sum(one.units.values()),
        *(one.units.get(state, 0) for state in UNIT_STATES),
        one.pages,
        one.size_bytes,
        one.measured_ms,
    ]


def export_refetched(visit: Visit) -> Response:
    """Send what each agent saw of an agent's pages as CSV, a row for each that saw a page."""
    found = refetches_of(visit.db, visit.query.get("name", ""))
    return csv_response("agent-refetched", REFETCHED_HEADER, _refetched(found.pages))


def _refetched(pages: list[RefetchedPage]) -> Iterator[list[Cell]]:
    for page in pages:
        for who, seen in page.said.items():
            yield [
                page.url,
                page.crawled_by,
                who,
                seen.status,
                seen.response_bytes,
                VERDICTS[page.verdict],
            ]


PAGES: Final = (
    Page("GET", "/agent/rounds.csv", "viewer", export_rounds, query=("name",)),
    Page("GET", "/agent/refetched.csv", "viewer", export_refetched, query=("name",)),
)
