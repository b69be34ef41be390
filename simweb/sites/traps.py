"""Traps: parts of a host whose links never end. A crawler must notice by itself.

`trap` is a calendar (the next month, always), `trap-path` repeats a path segment by a relative
link, `trap-session` gives each visit a new session number in the query and otherwise the same
page. Every trap page is a function of its URL.
"""

from __future__ import annotations

import re

from simweb.sites.chance import draw64
from simweb.sites.pages import trap_html
from simweb.sites.plan import HostPlan
from simweb.sites.site import Leaf

__all__ = ["TRAPS", "trap_body", "trap_start"]

TRAPS = ("trap", "trap-path", "trap-session")

_CALENDAR = re.compile(r"/t/trap/(\d{1,9})/(\d{1,9})/\Z")
_PATH = re.compile(r"/t/trap-path/(\d{1,9})((?:/more)+)/\Z")
_SESSION = re.compile(r"/t/trap-session/(\d{1,9})\.html\?sid=[0-9a-f]{16}\Z")
_SESSIONS_A_PAGE = 3


def trap_start(host: HostPlan, leaf: Leaf) -> list[str]:
    """Return the links that lead from a leaf into its trap."""
    if leaf.kind == "trap-session":
        return _sessions(host, leaf, "")
    return [f"{leaf.number}/1/" if leaf.kind == "trap" else f"{leaf.number}/more/"]


def trap_body(host: HostPlan, counts: dict[str, int], target: str) -> bytes | None:
    """Return the page at a path (with its query) inside a trap, or None."""
    for kind, pattern in zip(TRAPS, (_CALENDAR, _PATH, _SESSION), strict=True):
        match = pattern.match(target)
        if match is None or int(match[1]) >= counts.get(kind, 0):
            continue
        leaf = Leaf(kind, int(match[1]))
        if kind == "trap":
            step = int(match[2])
            links = [f"../{step + ahead}/" for ahead in (1, 12)]
            return trap_html(host, leaf, target, links)
        if kind == "trap-path":
            return trap_html(host, leaf, target, ["more/", "/"])
        return trap_html(host, leaf, leaf.path, _sessions(host, leaf, target))
    return None


def _sessions(host: HostPlan, leaf: Leaf, target: str) -> list[str]:
    numbers = (draw64(host.key, leaf.path, target, n) for n in range(_SESSIONS_A_PAGE))
    return [f"{leaf.path}?sid={number:016x}" for number in numbers]
