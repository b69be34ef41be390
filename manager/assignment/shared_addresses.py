"""Addresses that many sites share: which they are, and the rate of each.

At a shared address politeness counts by registrable domain, beside a rate for the whole address:
an interval of interval / sqrt(domains), not below a floor. The agents that may fetch there divide
it: each one of n rests n such intervals between two requests. Invariant: n is so small that an
agent that has heard nothing, and takes the address for one clock, stays within its share.
"""

from __future__ import annotations

import ipaddress
import math
from functools import lru_cache
from importlib import resources
from typing import Final, Literal

__all__ = [
    "Reason",
    "cdn_ranges",
    "clock",
    "decide",
    "is_published",
    "most_agents",
    "requests_per_s",
    "whole_interval_s",
]

Reason = Literal["few", "domains", "published", "person"]
"""Why an address is shared or is not: the number of its domains, a CDN's list, or a person."""

RETURN_SHARE: Final = 0.5
"""A shared address is one clock again with at most half of the domains that made it shared."""

Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]


def decide(domains: int, most: int, *, published: bool, shared: bool) -> tuple[bool, Reason]:
    """Return whether an address is shared, and why.

    domains: that its hosts have. most: that an address of one clock may have. shared: what it was.
    """
    if published:
        return True, "published"
    limit = math.floor(most * RETURN_SHARE) if shared else most
    return (True, "domains") if domains > limit else (False, "few")


def whole_interval_s(interval_s: float, domains: int, least_s: float) -> float:
    """Return the interval between two requests to a shared address, whoever sends them."""
    return max(interval_s / math.sqrt(max(1, domains)), min(least_s, interval_s))


def requests_per_s(interval_s: float, domains: int, least_s: float) -> float:
    """Return how many requests a second a shared address gets at most; inf: no limit."""
    whole_s = whole_interval_s(interval_s, domains, least_s)
    return 1 / whole_s if whole_s else math.inf


def most_agents(shortest_s: float, interval_s: float, domains: int, least_s: float) -> int:
    """Return how many agents may fetch from a shared address at once.

    shortest_s: the shortest time between two requests of an agent that takes it for one clock.
    """
    whole_s = whole_interval_s(interval_s, domains, least_s)
    return max(1, math.floor(shortest_s / whole_s + 1e-9)) if whole_s else 1


def is_published(address: str, more: tuple[str, ...] = ()) -> bool:
    """Return whether an address lies in the ranges of CDNs. more: ranges of the settings."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in _networks(more) if network.version == found.version)


def cdn_ranges() -> list[str]:
    """Return the ranges of the list in the package."""
    text = resources.files("manager.assignment").joinpath("cdn_ranges.txt").read_text("ascii")
    return [line for line in map(str.strip, text.splitlines()) if line and line[0] != "#"]


@lru_cache(maxsize=4)
def _networks(more: tuple[str, ...]) -> Networks:
    return tuple(map(_network, (*cdn_ranges(), *more)))


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(text, strict=False)


def clock(address: str, domain: str, *, shared: bool) -> str:
    """Return what a host counts by at an address."""
    return f"{address} {domain}" if shared else address
