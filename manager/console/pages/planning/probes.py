"""Probes: what share of all pairs is measured lately, by agent, and how old distances are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from starlette.responses import Response

from manager.console.drawings.stacked_bars import BarSection, stacked
from manager.console.language import _, lazy, ngettext
from manager.console.messages.disabled_reasons import unable_of
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter, text_filter
from manager.console.tables.kinds import AGENT, DRAWN, HOST, MOMENT, NUMBER, SENTENCE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.db.planning.probe_coverage import ControlRow
from manager.operations.planning.probe_coverage import AGE_DAYS, AgentCoverage, Coverage, coverage
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["CONTROLS", "COVERAGE", "COVERED", "PAGES"]

COVERAGE: Final = "coverage of probes"
"""By which it is kept."""


@frozen
class Covered:
    """The coverage of an agent. hosts: that it can measure."""

    row: AgentCoverage
    hosts: int


def _coverage_now(visit: Visit) -> Coverage:
    """Return the coverage, which is dear to count and may be minutes old."""
    db, now_ms, policy = visit.db, visit.now_ms, visit.policy
    return db.figures.get(COVERAGE, lambda: coverage(db, now_ms, policy))


SHOWN: Final[dict[str, Callable[[AgentCoverage], bool]]] = {
    "suspect": lambda row: row.suspect_since_ms is not None,
    "waiting": lambda row: row.waiting + row.under_way > 0,
    "failed": lambda row: row.failed > 0,
    "sound": lambda row: row.suspect_since_ms is None,
}


def _rows(visit: Visit) -> list[Covered]:
    show = visit.query.get("show", "").strip()
    if show and show not in SHOWN:
        raise FormatError(
            "general.unknown_choice", name="show", value=show[:40], known=tuple(SHOWN)
        )
    seen = _coverage_now(visit)
    return [Covered(row, seen.hosts) for row in seen.agents]


def _of_age(place: int) -> Column[Covered]:
    """Return the column of hosts whose distance is as old as one of AGE_DAYS, or older than all."""
    if place == len(AGE_DAYS):
        return Column("older", lambda one: one.row.ages[place], kind=NUMBER)
    days = AGE_DAYS[place]
    heading = f"younger than {days} days"
    return Column(f"younger_{days}", lambda one: one.row.ages[place], kind=NUMBER, file=heading)


COVERED: Final[Table[Covered]] = Table(
    "/probes",
    "Coverage of measurements by agent",
    InMemory(_rows),
    (
        Column("agent", lambda one: one.row.agent, lazy("Agent"), AGENT, sort=True),
        Column("drawn", None, lazy("Ages (bar)"), DRAWN),
        Column("hosts", lambda one: one.hosts, kind=NUMBER, about="that it can measure"),
        Column("measured", lambda one: one.row.measured, lazy("Ever measured"), NUMBER, sort=True),
        Column("fresh", lambda one: one.row.fresh, lazy("Recently measured"), NUMBER, sort=True),
        Column(
            "unreachable", lambda one: one.row.unreachable, lazy("Unreachable"), NUMBER, sort=True
        ),
        *map(_of_age, range(len(AGE_DAYS) + 1)),
        Column(
            "waiting",
            lambda one: one.row.waiting,
            lazy("Ordered"),
            NUMBER,
            sort_by=lambda one: one.row.waiting + one.row.under_way,
        ),
        Column("under_way", lambda one: one.row.under_way, kind=NUMBER),
        Column("failed", lambda one: one.row.failed, lazy("Failed"), NUMBER, sort=True),
        Column("not_needed", lambda one: one.row.not_needed, lazy("Not needed"), NUMBER, sort=True),
        Column(
            "suspect",
            lambda one: one.row.suspect_since_ms,
            lazy("Suspect"),
            MOMENT,
            "suspect since (UTC)",
            True,
            style="wide",
        ),
        Column("why", lambda one: one.row.suspect_reason, kind=SENTENCE),
    ),
    page_columns=(
        *("agent", "drawn", "fresh", "measured"),
        *("unreachable", "waiting", "failed", "not_needed", "suspect"),
    ),
    filters=(
        text_filter(lazy("Name"), lazy("part of a name"), lambda one: one.row.agent),
        Filter(
            "show",
            lazy("Show"),
            "words",
            tuple(SHOWN),
            any=lazy("all"),
            keeps=lambda one, show: SHOWN[show](one.row),
        ),
    ),
    default_sort="agent",
    files="probe-coverage",
)
CONTROLS: Final[Table[ControlRow]] = Table(
    "/probes/control-hosts",
    "Control hosts, which all agents probe",
    InMemory(lambda visit: _coverage_now(visit).controls),
    (
        Column("host", lambda one: one.host, lazy("Host"), HOST),
        Column("since", lambda one: one.control_ms, lazy("Since"), MOMENT),
        Column(
            "agents_that_measured_it",
            lambda one: one.agents,
            lazy("Agents that measured it"),
            NUMBER,
        ),
    ),
    files="control-hosts",
)


def show(visit: Visit) -> Response:
    """Show the coverage by agent, how old distances are, and the control hosts."""
    seen = _coverage_now(visit)
    return visit.page(
        "probes.html",
        seen=seen,
        ages=_ages(seen.ages),
        age_parts=_age_bar(seen.ages, seen.pairs),
        parts_of=lambda row: _age_bar(row.ages, seen.hosts),
        list=COVERED.view(visit),
        controls=CONTROLS.part(visit, seen.controls),
        suspects=[row for row in seen.agents if row.suspect_since_ms is not None],
        fleet=[row.agent for row in seen.agents],
        unready=unable_of("no-agent"),
        asked={name: visit.query.get(name, "") for name in ("host", "agent", "older")},
    )


def _age_bar(ages: Sequence[int], possible: int) -> list[BarSection]:
    """Return measured distances by age over all that can be measured; the rest stays hollow."""
    whole = float(max(possible, sum(ages)))
    return stacked([(f"age{at}", float(number)) for at, number in enumerate(ages)], whole=whole)


def _ages(numbers: list[int]) -> list[tuple[str, str, int]]:
    """Return (class, words, number) of each stretch of ages."""
    words = [ngettext("up to a day", "up to %(num)s days", days) for days in AGE_DAYS] + [
        _("older")
    ]
    return [(f"age{at}", words[at], number) for at, number in enumerate(numbers)]


PAGES: Final = (
    *COVERED.pages(show, "host", "agent", "older"),
    *CONTROLS.file_pages(),
)
