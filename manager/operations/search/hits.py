"""Hits of a search, grouped by their kind."""

from __future__ import annotations

from typing import Final, Literal, get_args

from manager.operations.people.users import Role
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["HITS_MOST", "KINDS", "ConsolePage", "Hit", "HitGroup", "Kind", "Match", "SearchResult"]

HITS_MOST: Final = 100
"""Hits of one kind in one answer."""

Kind = Literal[
    "host",
    "page",
    "agent",
    "round",
    "plan",
    "client",
    "user",
    "token",
    "alert",
    "round-schedule",
    "collection-schedule",
    "release",
    "setting",
    "console",
    "audit",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""In the order in which they are shown. page: a collected page. console: a page of the console."""

Match = Literal["exact", "site", "front", "address", "domain", "part"]
"""exact: it equals the typed text. site: the host of a collected page. front: the page of a host
without a path. address: a host at that IP address. domain: a host below that name. part: it
contains the typed text."""


@frozen
class Hit:
    """One thing that was found.

    key: how the other operations name it: a host key, URL, name, number, path. state: a word for
    its state or kind. about: what it is known by beside its key; of an alert its message. at_ms:
    when it was made, or last.
    """

    kind: Kind
    key: str
    match: Match
    state: str = ""
    about: str | Message = ""
    at_ms: int | None = None


@frozen
class HitGroup:
    """Hits of one kind, the best first. has_more: there are others."""

    kind: Kind
    hits: list[Hit]
    has_more: bool


@frozen
class SearchResult:
    """Hits of one search. text: the searched text.

    url: canonical, where an address of a page was typed. leads_to: the only exact hit; None: there
    is none, or there are several.
    """

    text: str
    url: str
    groups: list[HitGroup]
    leads_to: Hit | None


@frozen
class ConsolePage:
    """A page of the console. names: in all its languages."""

    path: str
    names: tuple[str, ...]
    role: Role
