"""Shares of a host's request rate, for several agents that fetch from one split host.

n agents that each rest n intervals after a request send together no more, in the long run, than
one that rests one interval. The relative timing of their requests is not controlled: two may come
at the same moment. The guarantee is the number in any span of time (`most_requests`).
Invariant: no more agents than shares hold rights of a host at once, and an agent gets a share
only when every other agent is known to keep its own (`manager.db.ownership.rights.may_crawl`).
Not decided here: the interval of a host, and the owner of each piece.
"""

from __future__ import annotations

from collections.abc import Iterable

from manager.assignment.errors import RuleError

__all__ = ["most_requests", "share_ms"]


def share_ms(interval_ms: int, agents: int, rests_ms: Iterable[int] = ()) -> int:
    """Return how long one of so many agents rests after each request to the host they share.

    rests_ms: what the host asked of the others lately (429, 503, Retry-After): all rest as long.
    """
    _check(interval_ms, agents)
    return max((interval_ms * agents, *rests_ms))


def most_requests(span_ms: int, interval_ms: int, agents: int) -> int:
    """Return how many requests a host gets at most in any span, from all agents together.

    One for each whole interval, and as many again as there are agents.
    """
    _check(interval_ms, agents)
    if not interval_ms:
        raise RuleError("assignment.no_rate")
    return agents * (span_ms // (interval_ms * agents) + 1)


def _check(interval_ms: int, agents: int) -> None:
    if interval_ms < 0:
        raise RuleError("assignment.bad_interval", interval_ms=interval_ms)
    if agents < 1:
        raise RuleError("assignment.bad_agents", agents=agents)
