"""Pages that do what a `prsm` command does, so that no sentence of a page has only the command.

Operations name commands as remedies, for they are read in logs and terminals, too. In a finished
page each command within a sentence is followed by a link to where the same is done.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Final

from markupsafe import escape

from manager.console.language import Words, lazy

__all__ = ["link_commands", "page_of"]

PAGES: Final[tuple[tuple[str, str, Words], ...]] = (
    ("agents place", "/console/agents-map", lazy("Agent map")),
    ("agents token", "/console/new-agent", lazy("New agent")),
    ("agents", "/console/agents", lazy("Agents")),
    ("alerts", "/console/alerts", lazy("Alerts")),
    ("archive adopt", "/console/trash", lazy("Trash")),
    ("archive jobs", "/console/archive-jobs", lazy("Jobs")),
    ("archive downloads", "/console/downloads", lazy("Downloads")),
    ("archive trash", "/console/trash", lazy("Trash")),
    ("archive", "/console/data#kept-files", lazy("Kept files")),
    ("audit --alerts", "/console/audit?alerts=yes", lazy("Audit log")),
    ("audit", "/console/audit", lazy("Audit log")),
    ("backup", "/console/audit?action=backup", lazy("Backups in the audit log")),
    ("check", "/console/data#kept-files", lazy("Kept files")),
    ("clients", "/console/data", lazy("Data")),
    ("collect", "/console/collection", lazy("Collection")),
    ("compact", "/console/withdrawn", lazy("Withdrawn hosts")),
    ("export", "/console/reports", lazy("Reports")),
    ("fleet", "/console/fleet-rules", lazy("Block list and politeness")),
    ("hosts import", "/console/add-hosts", lazy("Add hosts")),
    ("hosts", "/console/hosts", lazy("Hosts")),
    ("logs", "/console/logs", lazy("Logs")),
    ("managers", "/console/settings#managers", lazy("Managers")),
    ("plans", "/console/plans", lazy("Plans")),
    ("probes", "/console/probes", lazy("Probes")),
    ("release", "/console/releases", lazy("Releases")),
    ("reports", "/console/reports", lazy("Reports")),
    ("restore", "/console/audit?action=backup", lazy("Backups in the audit log")),
    ("rounds", "/console/rounds", lazy("Rounds")),
    ("scope", "/console/scope", lazy("Scope")),
    ("settings", "/console/settings", lazy("Settings")),
    ("status", "/console/", lazy("Overview")),
    ("tokens", "/console/tokens", lazy("Tokens")),
    ("users passwd", "/console/own-password", lazy("Your password")),
    ("users", "/console/users", lazy("Users")),
    ("withdraw", "/console/withdrawn", lazy("Withdrawn hosts")),
)
"""Beginnings of commands, the more particular before the more general."""

NEAR: Final = 500
"""Characters before a command within which a link to the same page makes another one needless."""
_CODE: Final = re.compile(r"<code>(prsm [^<]+)</code>")
_ANCHOR: Final = re.compile(r"<a\s[^>]*>|</a>")
_COMMAND: Final = re.compile(r"prsm +(.*)", re.DOTALL)


def link_commands(page: str) -> str:
    """Return a page in which each command of a sentence has a link to its page behind it.

    A link holds no other: behind a command that stands in a link, it follows that link's end.
    """
    pieces: list[str] = []
    done = 0
    for found in _CODE.finditer(page):
        link = _link(page, found)
        if not link:
            continue
        at = _end_of_link(page, found.end())
        pieces += [page[done:at], link]
        done = at
    return "".join([*pieces, page[done:]])


def _end_of_link(page: str, at: int) -> int:
    """Return where the link around a place ends; the place itself outside of links."""
    following = _ANCHOR.search(page, at)
    return following.end() if following and following[0] == "</a>" else at


def _link(page: str, found: re.Match[str]) -> str:
    before = page[max(0, found.start() - NEAR) : found.start()]
    known = page_of(html.unescape(found[1]))
    if known is None or before.endswith('<pre class="copy">') or f'href="{known[0]}"' in before:
        return ""
    return f' (<a href="{known[0]}">{escape(str(known[1]))}</a>)'


def page_of(command: str) -> tuple[str, Words] | None:
    """Return the address and the name of the page for a command; None: it has none."""
    found = _COMMAND.fullmatch(command.strip())
    return None if found is None else _page(" ".join(found[1].split()))


@cache
def _page(words: str) -> tuple[str, Words] | None:
    return next(
        (
            (address, label)
            for begin, address, label in PAGES
            if words == begin or words.startswith(f"{begin} ")
        ),
        None,
    )
