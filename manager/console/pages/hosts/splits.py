"""Slow hosts, and splits that make the crawl end earlier: proposed, ordered, applied."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy, ngettext
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.kinds import (
    AGENT,
    DURATION,
    FIGURE,
    FLAG,
    HOST,
    NUMBER,
    SENTENCE,
    WORD,
)
from manager.console.tables.sources import InMemory
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.hosts.splits.application import SplitsApplied, apply_proposals
from manager.operations.hosts.splits.orders import cancel_order
from manager.operations.hosts.splits.proposals import SplitProposal, split_report
from manager.operations.hosts.splits.slow_hosts import SlowHost

__all__ = ["PAGES", "PROPOSALS", "SLOW"]

HERE: Final = "/console/balance/splits"

PROPOSALS: Final[Table[SplitProposal]] = Table(
    "/balance/splits/proposals",
    "Splits and merges that prediction proposes",
    InMemory(lambda visit: split_report(visit.db, visit.policy, visit.now_ms).proposals),
    (
        Column("host", lambda one: one.host, lazy("Host"), HOST),
        Column("change", lambda one: one.action, lazy("Change"), WORD),
        Column("agents", lambda one: ", ".join(one.agents), lazy("Agents")),
        Column(
            "interval",
            lambda one: one.interval_s,
            lazy("Seconds between requests"),
            FIGURE,
            about="of all agents together",
        ),
        Column("host_takes", lambda one: one.host_before_ms, lazy("Host takes"), DURATION),
        Column(
            "host_would_take", lambda one: one.host_after_ms, lazy("Host takes after"), DURATION
        ),
        Column("crawl_takes", lambda one: one.crawl_before_ms, lazy("Whole crawl takes"), DURATION),
        Column(
            "crawl_would_take", lambda one: one.crawl_after_ms, lazy("Crawl takes after"), DURATION
        ),
        Column("by_person", lambda one: one.is_personal, kind=FLAG, about="changed it last"),
        Column("ordered", lambda one: one.is_ordered, kind=FLAG),
        Column("obstacle", lambda one: one.obstacle, kind=SENTENCE),
        BUTTONS,
    ),
    page_columns=(
        *("host", "change", "agents", "interval", "host_takes", "host_would_take"),
        *("crawl_takes", "crawl_would_take", "actions"),
    ),
)

SLOW: Final[Table[SlowHost]] = Table(
    "/balance/splits/slow",
    "Slow hosts, and what would let each be done in time",
    InMemory(lambda visit: split_report(visit.db, visit.policy, visit.now_ms).slow),
    (
        Column("host", lambda one: one.host, lazy("Host"), HOST),
        Column("agent", lambda one: one.agent, lazy("Agent"), AGENT),
        Column("requests", lambda one: one.requests, lazy("Requests"), NUMBER),
        Column("takes", lambda one: one.takes_ms, lazy("Takes"), DURATION),
        Column(
            "interval",
            lambda one: one.interval_s,
            lazy("Interval that suffices (s)"),
            FIGURE,
            about="the longest of its agent with which it is done in time",
        ),
        Column(
            "burst",
            lambda one: one.burst,
            lazy("Burst that suffices"),
            NUMBER,
            about="the fewest requests in a row with which it is done in time",
        ),
        Column("hosts_beside", lambda one: one.beside, kind=NUMBER, about="at its address"),
        Column("no_split", lambda one: one.why, lazy("Why no split helps"), SENTENCE),
    ),
    page_columns=("host", "agent", "requests", "takes", "interval", "burst", "no_split"),
)


def show(visit: Visit) -> Response:
    """Show what is proposed, and the slow hosts that no split helps."""
    report = split_report(visit.db, visit.policy, visit.now_ms)
    may_act = visit.may("operator")
    return visit.page(
        "splits.html",
        report=report,
        proposals=PROPOSALS.part(visit, report.proposals, without=() if may_act else ("actions",)),
        slow=SLOW.part(visit, report.slow),
    )


def apply(visit: Visit) -> Response:
    """Apply the proposal for a host, or all."""
    host = visit.form.get("host", "")
    done = apply_proposals(visit.db, visit.actor, visit.now_ms, visit.policy, host)
    here = link("host", host=host) if visit.form.get("back") == "host" else HERE
    return visit.go(here, done=_told(done))


def _told(done: SplitsApplied) -> str:
    said = []
    if done.split:
        count = len(done.split)
        said.append(ngettext("%(num)s host is split.", "%(num)s hosts are split.", count))
    if done.merged:
        count = len(done.merged)
        said.append(ngettext("%(num)s host is one unit.", "%(num)s hosts are one unit.", count))
    if done.ordered:
        count = len(done.ordered)
        said.append(
            ngettext(
                "%(num)s host follows when its crawl is over.",
                "%(num)s hosts follow when their crawl is over.",
                count,
            )
        )
    if done.refused:
        count = len(done.refused)
        said.append(
            ngettext(
                "%(num)s host could not be changed.", "%(num)s hosts could not be changed.", count
            )
        )
    return " ".join(said) or _("Nothing is proposed.")


def cancel(visit: Visit) -> Response:
    """Cancel the split or merge that waits for the end of a host's crawl."""
    host = visit.form.get("host", "")
    cancel_order(visit.db, host, visit.actor, visit.now_ms)
    here = link("host", host=host) if visit.form.get("back") == "host" else HERE
    return visit.go(here, done=_("%(host)s is not changed.", host=host))


PAGES: Final = (
    Page("GET", "/balance/splits", "viewer", show),
    *PROPOSALS.file_pages(),
    *SLOW.file_pages(),
    Page("POST", "/host/apply-split", "operator", apply, form="/balance/splits"),
    Page("POST", "/host/cancel-split", "operator", cancel, form="/balance/splits"),
)
