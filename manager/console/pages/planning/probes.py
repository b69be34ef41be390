"""Probes: what share of all pairs is measured lately, by agent, and how old distances are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.drawings.stacked_bars import BarSection, stacked
from manager.console.language import _, ngettext
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.messages.disabled_reasons import unable_of
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.planning.probe_coverage import AGE_DAYS, AgentCoverage, Coverage, coverage
from shared.errors import FormatError

__all__ = ["COVERAGE", "PAGES", "coverage_now"]

FILTERS: Final = ("q", "show")
HERE: Final = "/console/probes"
COVERAGE: Final = "coverage of probes"
"""By which it is kept."""

KEYS: Final[dict[str, Callable[[AgentCoverage], Any]]] = {
    "agent": lambda row: row.agent,
    "fresh": lambda row: row.fresh,
    "measured": lambda row: row.measured,
    "unreachable": lambda row: row.unreachable,
    "waiting": lambda row: row.waiting + row.under_way,
    "failed": lambda row: row.failed,
    "suspect": lambda row: row.suspect_since_ms,
}
SHOWN: Final = ("suspect", "waiting", "failed", "sound")
HEADER: Final = (
    "agent",
    "hosts",
    "measured",
    "fresh",
    "unreachable",
    *(f"younger than {days} days" for days in AGE_DAYS),
    "older",
    "waiting",
    "under way",
    "failed",
    "suspect since (UTC)",
    "why",
)


def coverage_now(visit: Visit) -> Coverage:
    """Return the coverage, which is dear to count and may be minutes old."""
    db, now_ms, policy = visit.db, visit.now_ms, visit.policy
    return db.figures.get(COVERAGE, lambda: coverage(db, now_ms, policy))


def _listing(visit: Visit) -> Listing:
    return read_listing(HERE, visit.query, filters=FILTERS, sorts=tuple(KEYS), default_sort="agent")


def _rows(seen: Coverage, listing: Listing) -> list[AgentCoverage]:
    text, show = listing.filters["q"].lower(), listing.filters["show"]
    keep: dict[str, Callable[[AgentCoverage], bool]] = {
        "": lambda row: True,
        "suspect": lambda row: row.suspect_since_ms is not None,
        "sound": lambda row: row.suspect_since_ms is None,
        "waiting": lambda row: row.waiting + row.under_way > 0,
        "failed": lambda row: row.failed > 0,
    }
    if show not in keep:
        raise FormatError("general.unknown_choice", name="show", value=show[:40], known=SHOWN)
    rows = [row for row in seen.agents if text in row.agent.lower() and keep[show](row)]
    return listing.sorted(rows, KEYS)


def show(visit: Visit) -> Response:
    """Show the coverage by agent, how old distances are, and the control hosts."""
    seen, listing = coverage_now(visit), _listing(visit)
    return visit.page(
        "probes.html",
        seen=seen,
        ages=_ages(seen.ages),
        age_parts=_age_bar(seen.ages, seen.pairs),
        parts_of=lambda row: _age_bar(row.ages, seen.hosts),
        listing=listing,
        cut=listing.cut(_rows(seen, listing)),
        shown=SHOWN,
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


def export(visit: Visit) -> Response:
    """Send the coverage as CSV."""
    seen = coverage_now(visit)
    rows = _rows(seen, _listing(visit))
    return csv_response("probe-coverage", HEADER, (_cells(row, seen.hosts) for row in rows))


def _cells(row: AgentCoverage, hosts: int) -> list[Cell]:
    since = row.suspect_since_ms
    return [
        row.agent,
        hosts,
        row.measured,
        row.fresh,
        row.unreachable,
        *row.ages,
        row.waiting,
        row.under_way,
        row.failed,
        None if since is None else figures.iso(since),
        row.suspect_reason,
    ]


PAGES: Final = (
    Page("GET", "/probes", "viewer", show, query=(*FILTERS, *LISTED, "host", "agent", "older")),
    Page("GET", "/probes.csv", "viewer", export, query=(*FILTERS, *LISTED)),
)
