"""Probes: what share of all pairs is measured lately, hosts beside agents, distances by their age.

Three lists, each with its own address; of pairs none ever loads more than a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from starlette.responses import Response

from manager.console import figures
from manager.console.access import Page
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _, ngettext
from manager.console.listing import Listing, read_listing
from manager.console.svg import stacked
from manager.console.visit import Question, Visit, link
from manager.db.probe_views import PairRow
from manager.operations.agents import named_agents
from manager.operations.asked_probes import Ordered, order_probes
from manager.operations.host_views import HostFilter
from manager.operations.probe_views import (
    AGE_DAYS,
    REACHED,
    AgentCoverage,
    Coverage,
    PairFilter,
    coverage,
    matrix,
    pairs,
)
from shared.errors import FormatError

__all__ = ["PAGES", "coverage_now"]

HERE: Final = "/console/probes"
COVERAGE: Final = "coverage of probes"
COLUMNS: Final = 12
ROWS_AT_ONCE: Final = 1000
ROWS_EXPORTED: Final = 1_000_000

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
PAIR_HEADER: Final = (
    "agent",
    "host",
    "ms/KB",
    "measured (UTC)",
    "kind",
    "round",
    "requests",
    "failed",
    "unreachable since (UTC)",
)


def coverage_now(visit: Visit) -> Coverage:
    """Return the coverage, which is dear to count and may be minutes old."""
    db, now_ms, policy = visit.db, visit.now_ms, visit.policy
    return db.kept.get(COVERAGE, lambda: coverage(db, now_ms, policy))


def _listing(visit: Visit) -> Listing:
    return read_listing(
        HERE, visit.query, filters=("q", "show"), sorts=tuple(KEYS), default_sort="agent"
    )


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
        raise FormatError(f"show {show[:40]!a}: must be one of {', '.join(SHOWN)}")
    rows = [row for row in seen.agents if text in row.agent.lower() and keep[show](row)]
    return listing.sorted(rows, KEYS)


def show(visit: Visit) -> Response:
    """Show the coverage by agent, how old distances are, and the control hosts."""
    seen, listing = coverage_now(visit), _listing(visit)
    return visit.page(
        "probes.html",
        seen=seen,
        ages=_ages(seen.ages),
        age_parts=stacked([(f"age{at}", float(n)) for at, n in enumerate(seen.ages)]),
        parts_of=lambda row: stacked([(f"age{at}", float(n)) for at, n in enumerate(row.ages)]),
        listing=listing,
        cut=listing.cut(_rows(seen, listing)),
        shown=SHOWN,
        suspects=[row for row in seen.agents if row.suspect_since_ms is not None],
        fleet=[row.agent for row in seen.agents],
        asked={name: visit.query.get(name, "") for name in ("host", "agent", "older")},
    )


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


def _matrix_listing(visit: Visit) -> Listing:
    return read_listing(
        f"{HERE}/matrix",
        visit.query,
        filters=("domain", "agent", "columns"),
        sorts=("host",),
        default_sort="host",
    )


def show_matrix(visit: Visit) -> Response:
    """Show hosts beside agents, a page of each."""
    listing = _matrix_listing(visit)
    fleet = _fleet(visit)
    names, first = _columns(listing, fleet)
    start = (listing.page - 1) * listing.size
    seen = matrix(
        visit.db,
        names,
        HostFilter(domain=listing.filters["domain"]),
        descending=listing.sort.startswith("-"),
        limit=listing.size,
        offset=start,
        policy=visit.policy,
    )
    return visit.page(
        "probe_matrix.html",
        seen=seen,
        listing=listing,
        fleet=fleet,
        first_column=first,
        columns=COLUMNS,
        first=start + 1 if seen.rows else 0,
        last=start + len(seen.rows),
        moment_text=figures.moment,
        fresh_ms=visit.now_ms - round(visit.policy.probe_fresh_s * 1000),
    )


def _fleet(visit: Visit) -> list[str]:
    return [one.name for one in named_agents(visit.db) if one.takes_part]


def _columns(listing: Listing, fleet: list[str]) -> tuple[list[str], int]:
    """Return the agents of this page's columns, and the place of the first among all."""
    if listing.filters["agent"]:
        return [listing.filters["agent"]], 0
    text = listing.filters["columns"]
    if text and not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise FormatError(f"columns {text[:40]!a}: must be a whole number")
    first = min(int(text or 0), max(0, len(fleet) - 1)) // COLUMNS * COLUMNS
    return fleet[first : first + COLUMNS], first


def export_matrix(visit: Visit) -> Response:
    """Send the matrix of all agents as CSV, up to a million hosts."""
    listing, fleet = _matrix_listing(visit), _fleet(visit)
    names = [listing.filters["agent"]] if listing.filters["agent"] else fleet
    return csv_response("probe-matrix", ("host", "owner", *names), _matrix_cells(visit, names))


def _matrix_cells(visit: Visit, names: list[str]) -> Iterator[list[Cell]]:
    listing = _matrix_listing(visit)
    for offset in range(0, ROWS_EXPORTED, ROWS_AT_ONCE):
        part = matrix(
            visit.db,
            names,
            HostFilter(domain=listing.filters["domain"]),
            descending=listing.sort.startswith("-"),
            limit=ROWS_AT_ONCE,
            offset=offset,
            policy=visit.policy,
        ).rows
        for row in part:
            yield [row.host, row.owner, *(_cell(cell.state, cell.ms_per_kb) for cell in row.cells)]
        if len(part) < ROWS_AT_ONCE:
            return


def _cell(state: str, ms_per_kb: float | None) -> Cell:
    """Return a distance as CSV has it: what is predicted is marked, what is unreachable said."""
    if state == "predicted":
        return None if ms_per_kb is None else f"~{ms_per_kb:.4g}"
    return ms_per_kb if state != "unreachable" else state


def _pair_listing(visit: Visit) -> Listing:
    return read_listing(
        f"{HERE}/distances",
        visit.query,
        filters=("agent", "host", "older", "reached"),
        sorts=("age", "distance"),
        default_sort="age",
    )


def _pairs(visit: Visit, listing: Listing, limit: int, offset: int) -> list[PairRow]:
    given = listing.filters
    where = PairFilter(given["agent"], given["host"], _days(given["older"]), given["reached"])
    return pairs(visit.db, where, visit.now_ms, sort=listing.sort, limit=limit, offset=offset)


def show_pairs(visit: Visit) -> Response:
    """Show distances by their age or length."""
    listing = _pair_listing(visit)
    start = (listing.page - 1) * listing.size
    # One more than is shown says whether there is another page; all of them are never counted.
    found = _pairs(visit, listing, listing.size + 1, start)
    rows = found[: listing.size]
    return visit.page(
        "probe_pairs.html",
        rows=rows,
        listing=listing,
        fleet=_fleet(visit),
        reached=[name for name in REACHED if name],
        first=start + 1 if rows else 0,
        last=start + len(rows),
        has_next=len(found) > listing.size,
    )


def export_pairs(visit: Visit) -> Response:
    """Send the same rows as CSV, up to a million."""
    return csv_response("distances", PAIR_HEADER, _pair_cells(visit))


def _pair_cells(visit: Visit) -> Iterator[list[Cell]]:
    listing = _pair_listing(visit)
    for offset in range(0, ROWS_EXPORTED, ROWS_AT_ONCE):
        part = _pairs(visit, listing, ROWS_AT_ONCE, offset)
        for row in part:
            since = row.unreachable_since_ms
            yield [
                row.agent,
                row.host,
                row.ms_per_kb,
                figures.iso(row.measured_ms),
                row.kind,
                row.round,
                row.lines,
                row.failed,
                None if since is None else figures.iso(since),
            ]
        if len(part) < ROWS_AT_ONCE:
            return


def _days(text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError as error:
        raise FormatError(f"older than {text[:20]!a} days: must be a number, or empty") from error


def order(visit: Visit) -> Response:
    """Order probes; ask once where it is more than one host's."""
    host, agent, older = (visit.form.get(name, "").strip() for name in ("host", "agent", "older"))
    days = _days(older)
    back = link("host", host=host) if visit.form.get("back") == "host" else HERE
    if not host and not visit.is_confirmed and (agent or days is not None):
        return visit.ask(
            Question(
                _("Order probes?"),
                (
                    _wanted(agent, days, visit),
                    _(
                        "Nothing is ordered twice in a round, and no agent more than it may probe"
                        " in a day."
                    ),
                ),
                _("Order"),
                f"{HERE}/order",
                back,
                {"agent": agent, "older": older},
                danger=False,
            )
        )
    done = order_probes(
        visit.db,
        visit.actor,
        visit.now_ms,
        host=host,
        agent=agent,
        older_days=days,
        policy=visit.policy,
    )
    visit.db.kept.forget(COVERAGE)
    return visit.go(back, done=_told(done))


def _wanted(agent: str, days: float | None, visit: Visit) -> str:
    shown = visit.policy.probe_fresh_s / 86_400 if days is None else days
    if agent:
        return _(
            "%(agent)s probes all hosts that it never measured, or more than %(days)s days ago.",
            agent=agent,
            days=f"{shown:g}",
        )
    return _(
        "All distances that were measured more than %(days)s days ago are measured again.",
        days=f"{shown:g}",
    )


def _told(done: Ordered) -> str:
    when = (
        _("They are the first thing of round %(round)s, when it begins.", round=done.round)
        if done.waits
        else _("They are made in round %(round)s, now.", round=done.round)
    )
    said = [ngettext("%(num)s probe is ordered.", "%(num)s probes are ordered.", done.orders)]
    if done.orders:
        said.append(when)
    if done.known:
        said.append(
            ngettext(
                "%(num)s was ordered in that round already.",
                "%(num)s were ordered in that round already.",
                done.known,
            )
        )
    if done.left_out:
        said.append(
            ngettext(
                "%(num)s is left out: its agent or its host has no room today.",
                "%(num)s are left out: their agents or hosts have no room today.",
                done.left_out,
            )
        )
    return " ".join(said)


PAGES: Final = (
    Page("GET", "/probes", "viewer", show),
    Page("GET", "/probes.csv", "viewer", export),
    Page("GET", "/probes/matrix", "viewer", show_matrix),
    Page("GET", "/probes/matrix.csv", "viewer", export_matrix),
    Page("GET", "/probes/distances", "viewer", show_pairs),
    Page("GET", "/probes/distances.csv", "viewer", export_pairs),
    Page("POST", "/probes/order", "operator", order),
)
