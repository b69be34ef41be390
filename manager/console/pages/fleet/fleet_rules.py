"""Rules for all agents: the block list, with a box to try it, and limits of politeness."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, lazy, ngettext
from manager.console.listing import whole
from manager.console.requests.page import Page
from manager.console.requests.visit import BACK, Visit, number
from manager.console.tables.filters import text_filter
from manager.console.tables.kinds import ID, MOMENT
from manager.console.tables.sources import InMemory
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.fleet.block_list import Tried, add_blocked, remove_blocked, try_url
from manager.operations.fleet.fleet_rules import (
    BlockedRow,
    LimitsRow,
    as_shown,
    check_limits,
    fleet_rules_of,
    set_limits,
)
from shared.errors import FormatError, UrlError
from shared.messages import Message

__all__ = ["BLOCKED", "PAGES"]

HERE: Final = "/console/fleet-rules"
LIMITS: Final = ("interval_s", "parallel_hosts", "kbytes_per_s")


BLOCKED: Final[Table[BlockedRow]] = Table(
    "/fleet-rules",
    "Block list",
    InMemory(lambda visit: fleet_rules_of(visit.db).blocked),
    (
        Column("number", lambda row: row.id, lazy("Line"), ID, sort=True, style="narrow-column"),
        Column(
            "expression",
            lambda row: row.pattern,
            lazy("Expression"),
            sort="pattern",
            style="wide path",
        ),
        Column("reason", lambda row: row.reason or None, lazy("Reason"), style="wide"),
        Column("added_by", lambda row: row.added_by, lazy("by"), sort="by"),
        Column(
            "added", lambda row: row.added_ms, lazy("Added"), MOMENT, sort=True, beside="added_by"
        ),
        BUTTONS,
    ),
    row_name="expression",
    filters=(
        text_filter(
            lazy("Text"),
            lazy("part of an expression or reason"),
            lambda row: f"{row.pattern} {row.reason}",
        ),
    ),
    default_sort="number",
    files="block-list",
)


def show(visit: Visit) -> Response:
    """Show the block list and the limits; with a URL, which lines block it."""
    found = fleet_rules_of(visit.db)
    url, pattern = visit.query.get("url", "").strip(), visit.query.get("pattern", "").strip()
    tried, untried = _tried(visit, url, pattern)
    return visit.page(
        "fleet_rules.html",
        list=BLOCKED.view(visit, found.blocked),
        lines=len(found.blocked),
        limits=found.limits,
        shown=as_shown(found.limits),
        url=url,
        pattern=pattern,
        tried=tried,
        untried=untried,
    )


def _tried(visit: Visit, url: str, pattern: str) -> tuple[Tried | None, Message | None]:
    """Return what blocks a URL; or why it cannot be tried."""
    if not url:
        return None, None
    try:
        return try_url(visit.db, url[:8000], pattern[:1000]), None
    except (FormatError, UrlError) as error:
        return None, error.message


def block(visit: Visit) -> Response:
    """Add lines, an expression each."""
    text, reason = visit.form.get("text", ""), visit.form.get("reason", "")
    added = add_blocked(visit.db, text, reason, visit.actor, visit.now_ms)
    said = ngettext(
        "%(num)s line is new; agents receive it with their next sync.",
        "%(num)s lines are new; agents receive them with their next sync.",
        added,
    )
    return visit.go(visit.back(HERE), done=said)


def unblock(visit: Visit) -> Response:
    """Take a line out; ask once."""
    text, here = visit.form.get("number", ""), visit.back(HERE)
    line = whole(text, "number", 18)
    if not visit.is_confirmed:
        rows = [row for row in fleet_rules_of(visit.db).blocked if row.id == line]
        shown = rows[0].pattern if rows else text
        return visit.ask(
            _("Remove this line from the block list?"),
            shown,
            _("Agents fetch such URLs again from their next sync on."),
            button=_("Remove"),
            back=here,
            fields={"number": text, BACK: here},
        )
    remove_blocked(visit.db, line, visit.actor, visit.now_ms)
    return visit.go(here, done=_("The line is removed from the block list."))


def limit(visit: Visit) -> Response:
    """Set what all agents keep to at least; an empty field is as each site says. Ask once."""
    kbytes = _limit(visit, "kbytes_per_s")
    hosts = _limit(visit, "parallel_hosts")
    asked = LimitsRow(
        _limit(visit, "interval_s"),
        None if hosts is None else round(hosts),
        None if kbytes is None else round(kbytes * 1000),
    )
    shown, here = visit.form.get("shown"), visit.back(HERE)
    check_limits(asked)
    if not visit.is_confirmed and asked != fleet_rules_of(visit.db).limits:
        fields = {name: visit.form.get(name, "") for name in LIMITS}
        return visit.ask(
            _("Set these limits for the whole fleet?"),
            *_limits_said(asked),
            _(
                "All agents receive them with their next sync; each applies the stricter "
                "of these and its site's own limits."
            ),
            button=_("Set the limits"),
            back=here,
            fields={**fields, **({} if shown is None else {"shown": shown}), BACK: here},
            danger=False,
        )
    set_limits(visit.db, asked, visit.actor, visit.now_ms, shown)
    return visit.go(here, done=_("Agents receive the limits with their next sync."))


def _limits_said(asked: LimitsRow) -> list[str]:
    """Return the new limits, a sentence each."""
    site = _("the site's setting")
    interval = site if asked.interval_s is None else f"{asked.interval_s:g}"
    hosts = site if asked.parallel_hosts is None else figures.count(asked.parallel_hosts)
    kbytes = site if asked.bytes_per_s is None else f"{asked.bytes_per_s / 1000:g}"
    return [
        _("Minimum seconds between two requests to an address: %(value)s", value=interval),
        _("Maximum hosts that an agent crawls at a time: %(value)s", value=hosts),
        _("Maximum KB/s of an agent: %(value)s", value=kbytes),
    ]


def _limit(visit: Visit, name: str) -> float | None:
    found = number(visit, name)
    if found is not None and not -(10**12) < found < 10**12:
        raise FormatError("console.large_number", name=name, value=visit.form[name][:20]).about(
            name
        )
    return found


PAGES: Final = (
    *BLOCKED.pages(show, "url", "pattern"),
    Page("POST", "/fleet-rules/block", "operator", block, form="/fleet-rules"),
    Page("POST", "/fleet-rules/unblock", "operator", unblock, form="/fleet-rules"),
    Page("POST", "/fleet-rules/limits", "operator", limit, form="/fleet-rules"),
)
