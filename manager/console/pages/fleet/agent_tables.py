"""The tables of an agent's page: its rounds, and its pages that others fetched again.

Its units, reports and history are the general lists, filtered by the agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from manager.assignment.refetch_rules import Seen
from manager.console.language import lazy
from manager.console.pages.rounds.round_progress import UNIT_STATES
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import BYTES, DRAWN, DURATION, ID, NUMBER, PATH, WORD
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.fleet.agent_rounds import AgentRound, every_round_of_agent
from manager.operations.measurement.refetch_results import RefetchedPage, refetches_of
from shared.frozen import frozen

__all__ = ["PAGES", "REFETCHED", "ROUNDS", "captures_of"]

VERDICTS: Final = {True: "others agree", False: "contradicted", None: "undecided"}


def _units(state: str) -> Column[AgentRound]:
    return Column(f"units_{state}", lambda one: one.units.get(state, 0), kind=NUMBER)


ROUNDS: Final[Table[AgentRound]] = Table(
    "/agent/rounds",
    "Rounds of an agent",
    InMemory(lambda visit: every_round_of_agent(visit.db, visit.query.get("name", ""))),
    (
        Column("round", lambda one: one.round.number, lazy("Round"), ID, style="numbered"),
        Column("method", lambda one: one.round.method, kind=WORD),
        Column("state", lambda one: one.round.state, kind=WORD),
        Column("units", lambda one: sum(one.units.values()), lazy("Units finished"), NUMBER),
        *map(_units, UNIT_STATES),
        Column("pages", lambda one: one.pages, lazy("Pages"), NUMBER),
        Column("received", lambda one: one.size_bytes, lazy("Bytes"), BYTES),
        Column("measured", lambda one: one.measured_ms, lazy("Measured cost"), DURATION),
        Column("drawn", None, lazy("Measured cost (bar)"), DRAWN, style="compared-only"),
    ),
    page_columns=("round", "measured", "drawn", "units", "pages", "received"),
    parameters=("name",),
)


@frozen
class SeenPage:
    """One agent's answer of a page that was fetched again."""

    page: RefetchedPage
    agent: str
    seen: Seen


def _seen(visit: Visit) -> Iterator[SeenPage]:
    for page in refetches_of(visit.db, visit.query.get("name", "")).pages:
        for agent, seen in page.said.items():
            yield SeenPage(page, agent, seen)


def captures_of(pages: Iterable[RefetchedPage]) -> list[SeenPage]:
    """Return a row for each page: the answer that the agent of its capture had."""
    return [SeenPage(page, page.crawled_by, page.said[page.crawled_by]) for page in pages]


REFETCHED: Final[Table[SeenPage]] = Table(
    "/agent/refetched",
    "Pages of an agent that others fetched again, a row for each that saw a page",
    InMemory(_seen),
    (
        Column("page", lambda one: one.page.url, lazy("Page"), PATH),
        Column(
            "crawled_by",
            lambda one: one.page.crawled_by,
            lazy("Crawled by"),
            style="narrow-column",
        ),
        Column("seen_by", lambda one: one.agent),
        Column("status", lambda one: one.seen.status, kind=NUMBER),
        Column("received", lambda one: one.seen.response_bytes, kind=BYTES),
        Column("results", None, lazy("Result of each agent")),
        Column(
            "verdict_on_the_agent",
            lambda one: VERDICTS[one.page.verdict],
            lazy("Verdict"),
            style="narrow-column",
        ),
    ),
    parameters=("name",),
)
PAGES: Final = (*ROUNDS.file_pages(), *REFETCHED.file_pages())
