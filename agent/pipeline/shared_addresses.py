"""Addresses that many sites share, as the manager says, and the names of clocks.

A clock is what politeness counts by: an address, or a registrable domain at a shared address,
written `ADDRESS DOMAIN`. Invariant: an address is one clock until the manager says that it is
shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zlib import crc32

from shared.frozen import frozen
from shared.naming.registrable_domain import registrable_domain

__all__ = ["SharedRule", "SharedRules", "address_of", "clock_of", "preferred_address"]


@frozen
class SharedRule:
    """A shared address: its registrable domains, and the agents that divide its rate."""

    domains: int
    shares: int = 1
    least_interval_s: float = 0.0


SharedRules = Mapping[str, SharedRule]
"""The shared addresses."""


def clock_of(address: str, host: str, rules: SharedRules) -> str:
    """Return the clock of a host at an address."""
    return f"{address} {registrable_domain(host)}" if address in rules else address


def address_of(clock: str) -> str:
    """Return the address of a clock."""
    return clock.partition(" ")[0]


def preferred_address(host: str, addresses: Sequence[str], rules: SharedRules) -> str:
    """Return at which of its addresses a host is asked: the first, as all agents do.

    Where that one is shared, domains are spread over those that are: each has a rate.
    """
    if addresses[0] not in rules:
        return addresses[0]
    among = [address for address in addresses if address in rules]
    return among[crc32(registrable_domain(host).encode()) % len(among)]
