"""Requests a second at an address: the most that came in a span, and what is allowed."""

from __future__ import annotations

import math

from manager.assignment.host_shares import most_requests

__all__ = ["allowed_per_s", "most_per_s"]


def most_per_s(times: list[float], span_s: int) -> float:
    """Return the most requests in a second, over spans of so many seconds."""
    times.sort()
    first, most = 0, 0
    for last, when in enumerate(times):
        while when - times[first] > span_s:
            first += 1
        most = max(most, last - first + 1)
    return most / span_s


def allowed_per_s(interval_s: float, agents: int, span_s: int) -> float:
    """Return how many requests a second may come in such a span, from all agents together."""
    return most_requests(span_s * 1000, math.ceil(interval_s * 1000 - 1e-6), agents) / span_s
