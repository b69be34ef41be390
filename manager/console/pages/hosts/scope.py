"""Scope of the crawl: its rules, a box to test a URL, and a preview of each change."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _
from manager.console.requests.page import Page
from manager.console.requests.visit import BACK, Visit, number
from manager.operations.hosts.crawl_scope import (
    ScopeChange,
    ScopeTried,
    preview_scope,
    scope_of_crawl,
    set_scope,
    try_scope,
)
from shared.errors import FormatError, UrlError
from shared.messages import Message

__all__ = ["PAGES"]

HERE: Final = "/console/scope"


def show(visit: Visit) -> Response:
    """Show the rules in force; with a URL, which of them decides."""
    url, language = (visit.query.get(name, "").strip() for name in ("url", "language"))
    tried, untried = _tried(visit, url, language)
    return visit.page(
        "scope.html",
        scope=scope_of_crawl(visit.db),
        url=url,
        language=language,
        tried=tried,
        untried=untried,
    )


def _tried(visit: Visit, url: str, language: str) -> tuple[ScopeTried | None, Message | None]:
    """Return the decision about a URL; or why it cannot be tested."""
    if not url:
        return None, None
    try:
        return try_scope(visit.db, url[:8000], language), None
    except (UrlError, FormatError) as error:
        return None, error.message


def change(visit: Visit) -> Response:
    """Put other rules in force; ask once, with what they would close and open."""
    text = visit.form.get("text", "").replace("\r\n", "\n")
    reason, shown = visit.form.get("reason", ""), number(visit, "version")
    if not visit.is_confirmed:
        found = preview_scope(visit.db, text)
        return visit.ask(
            _("Put these rules in force?"),
            *_consequences(found),
            button=_("Put in force"),
            back=HERE,
            fields={
                "text": text,
                "reason": reason,
                "version": visit.form.get("version", ""),
                BACK: HERE,
            },
            danger=found.closed_units > 0,
        )
    version = None if shown is None else int(shown)
    set_scope(visit.db, text, reason, visit.actor, visit.now_ms, version)
    return visit.go(HERE, done=_("Agents receive the scope with their next sync."))


def _consequences(found: ScopeChange) -> list[str]:
    """Return what a change closes and opens, a sentence each."""
    said = [
        _("Rules: %(rules)s; all else: %(default)s", rules=found.rules, default=found.default),
        _(
            "Outside from now on: %(hosts)s hosts, %(units)s units. Their captures stay.",
            hosts=figures.count(found.closed_hosts),
            units=figures.count(found.closed_units),
        ),
    ]
    if found.closed_examples:
        said.append(_("For example: %(hosts)s", hosts=", ".join(found.closed_examples)))
    said.append(
        _(
            "Inside again, from the next round on: %(hosts)s hosts, %(units)s units.",
            hosts=figures.count(found.opened_hosts),
            units=figures.count(found.opened_units),
        )
    )
    if found.opened_examples:
        said.append(_("For example: %(hosts)s", hosts=", ".join(found.opened_examples)))
    return said


PAGES: Final = (
    Page("GET", "/scope", "viewer", show, query=("url", "language")),
    Page("POST", "/scope", "operator", change, form="/scope"),
)
