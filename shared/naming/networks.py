"""Addresses that a robot may connect to: the public Internet, and what the operator allows.

Invariant: an address that is not plainly public is refused. Of IPv4 the ranges are those of the
IANA registry of special purposes; of IPv6 only global unicast (2000::/3) is public, without the
ranges that wrap other addresses, because `2002:7f00:1::` leads to 127.0.0.1. An allowed range
holds for itself, not for its wrappings.
Source: IANA IPv4 and IPv6 Special-Purpose Address Registries.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

__all__ = ["AddressRules"]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_REFUSED: Final = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by providers, and a cloud's metadata",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "a cloud's metadata",
    "169.254.0.0/16": "link-local, and clouds' metadata",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments, and a cloud's metadata",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "6to4 relays",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "benchmarks",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved, broadcast",
    "::/128": "unspecified",
    "::1/128": "loopback",
    "::ffff:0:0/96": "IPv4 in IPv6",
    "64:ff9b::/96": "IPv4 in IPv6",
    "2001::/23": "protocol assignments, Teredo",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4, leads to IPv4",
    "3fff::/20": "documentation",
    "fc00::/7": "private",
    "fe80::/10": "link-local",
    "ff00::/8": "multicast",
}
_TABLE: Final = [(ipaddress.ip_network(text), what) for text, what in _REFUSED.items()]
_PUBLIC_6: Final = ipaddress.IPv6Network("2000::/3")


class AddressRules:
    """The refused ranges, less those that the operator allows."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """allowed: networks as `127.0.0.0/8`; raises ValueError for a text that is none."""
        self._allowed: list[Network] = [ipaddress.ip_network(text) for text in allowed]
        self.refusal = lru_cache(maxsize=4096)(self._refusal)
        """Return why an address may not be connected to, or None; ValueError for no address."""

    def _refusal(self, address: str) -> str | None:
        parsed = ipaddress.ip_address(address)
        if any(parsed in network for network in self._allowed):
            return None
        for network, what in _TABLE:
            if parsed in network:
                return f"{parsed} is in {network} ({what}), which is not crawled"
        if isinstance(parsed, ipaddress.IPv6Address) and parsed not in _PUBLIC_6:
            return f"{parsed} is outside {_PUBLIC_6} (public IPv6), and is not crawled"
        return None
