"""The pages that the bar at the side leads to: a new page is one line here.

A line: the section that the page's template names (`{% set section = "agents" %}`), which is also
its path; its label; its icon of `static/vendor/icons`; the least role; the letter after `g` that
goes there. The order of groups follows an administrator's questions: the overall state, the crawl,
the archive, the manager itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from manager.console.language import Words, in_all_languages, lazy
from manager.operations.people.users import ROLES, Role
from manager.operations.search import ConsolePage
from shared.frozen import frozen

__all__ = ["GROUPS", "Entry", "Group", "console_pages", "shown_to"]


@frozen
class Entry:
    """A page in the bar. section: also its path. key: goes there after `g`."""

    section: str
    label: Words
    icon: str
    role: Role
    key: str


@frozen
class Group:
    """Pages that belong together; the first group has no title."""

    title: Words
    entries: tuple[Entry, ...]


GROUPS: Final = (
    Group("", (Entry("", lazy("Overview"), "apps", "viewer", "o"),)),
    Group(
        lazy("Crawl"),
        (
            Entry("agents", lazy("Agents"), "server", "viewer", "a"),
            Entry("hosts", lazy("Hosts"), "world", "viewer", "h"),
            Entry("rounds", lazy("Rounds"), "route", "viewer", "r"),
            Entry("balance", lazy("Balance"), "scale", "viewer", "b"),
            Entry("probes", lazy("Probes"), "grid-dots", "viewer", "p"),
            Entry("restart", lazy("Restart"), "refresh", "viewer", "s"),
            Entry("reports", lazy("Reports"), "file-text", "viewer", "e"),
        ),
    ),
    Group(
        lazy("Archive"),
        (
            Entry("collection", lazy("Collection"), "package-import", "viewer", "c"),
            Entry("data", lazy("Data"), "package-export", "viewer", "d"),
        ),
    ),
    Group(
        lazy("Administration"),
        (
            Entry("logs", lazy("Logs"), "file-search", "viewer", "l"),
            Entry("alerts", lazy("Alerts"), "bell", "viewer", "w"),
            Entry("releases", lazy("Releases"), "rocket", "viewer", "v"),
            Entry("audit", lazy("Audit log"), "history", "viewer", "t"),
            Entry("users", lazy("Users"), "user", "admin", "u"),
            Entry("tokens", lazy("Tokens"), "key", "viewer", "k"),
            Entry("settings", lazy("Settings"), "settings", "viewer", "i"),
        ),
    ),
)


BESIDE: Final[tuple[tuple[str, Words, Role], ...]] = (
    ("add-hosts", lazy("Add hosts"), "operator"),
    ("new-agent", lazy("New agent"), "admin"),
    ("new-user", lazy("New user"), "admin"),
    ("new-client", lazy("New third party"), "admin"),
    ("agents-map", lazy("Agent map"), "viewer"),
    ("plans", lazy("Plans"), "viewer"),
    ("probes/matrix", lazy("Distance matrix"), "viewer"),
    ("probes/distances", lazy("Distances"), "viewer"),
    ("collection/orders", lazy("Orders"), "viewer"),
    ("downloads", lazy("Downloads"), "viewer"),
    ("archive-jobs", lazy("Jobs"), "viewer"),
    ("withdrawn", lazy("Withdrawn hosts"), "viewer"),
    ("trash", lazy("Trash"), "viewer"),
    ("release-agents", lazy("Agents by version"), "viewer"),
    ("scope", lazy("Scope"), "viewer"),
    ("fleet-rules", lazy("Block list and politeness"), "viewer"),
    ("own-password", lazy("Your password"), "viewer"),
    ("robot", lazy("About our robots"), "viewer"),
)
"""Pages that the bar does not lead to, for the search."""


def console_pages() -> tuple[ConsolePage, ...]:
    """Return the pages that a search finds, by their names in all languages."""
    barred = [
        (entry.section, entry.label, entry.role) for group in GROUPS for entry in group.entries
    ]
    return tuple(
        ConsolePage(f"/console/{path}", in_all_languages(label), role)
        for path, label, role in (*barred, *BESIDE)
    )


def shown_to(role: str) -> Sequence[Group]:
    """Return the groups with what a role may open; a group with nothing left is none."""
    held = ROLES.index(role) if role in ROLES else -1
    found = []
    for group in GROUPS:
        entries = tuple(entry for entry in group.entries if ROLES.index(entry.role) <= held)
        if entries:
            found.append(Group(group.title, entries))
    return found
