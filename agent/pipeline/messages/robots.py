"""The robots.txt of hosts: its turns, its redirects, its rules."""

from __future__ import annotations

from shared.frozen import frozen
from shared.wire.orders import OrderKind

__all__ = ["RulesDue", "RulesFetched", "RulesKnown", "RulesRedirected"]


@frozen
class RulesDue:
    """Turn of a host's robots.txt, before its pages; holds the address's token."""

    host: str  # whose rules
    address: str  # where to fetch them; another host's after a redirect
    url: str
    hop: int  # redirects so far, at most 5
    round: int
    kind: OrderKind
    lookup_ms: float | None = None  # of the host's name, since the last time; None: there was none
    chain: str = ""  # cookies of the redirects that led here
    attempt: int = 1  # more after an outcome `retry`
    clock: str = ""  # whose token it holds (`shared_addresses`)


@frozen
class RulesRedirected:
    """Redirect of the robots.txt of `rules_of` to a URL of `host`."""

    rules_of: str
    host: str
    url: str
    hop: int
    round: int
    kind: OrderKind
    address: str = ""  # filled in by resolve
    chain: str = ""  # cookies of the redirects that led here


@frozen
class RulesFetched:
    """Answer for robots.txt: status 0 and a reason where none came."""

    host: str
    address: str
    status: int
    body: bytes  # decoded
    reason: str = ""


@frozen
class RulesKnown:
    """Rules of a host, known until `expires_s`; its URLs may have their turn."""

    host: str
    address: str
    expires_s: float
    crawl_delay_s: float | None
    all_denied: bool = False  # 5xx or unreachable: RFC 9309, 2.3.1.4
    reason: str = ""  # why all is denied
