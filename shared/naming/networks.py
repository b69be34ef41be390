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

from shared.messages import Message

__all__ = ["AddressRules"]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_REFUSED: Final = {
    "0.0.0.0/8": "naming.this_network",
    "10.0.0.0/8": "naming.private",
    "100.64.0.0/10": "naming.provider",
    "127.0.0.0/8": "naming.loopback",
    "168.63.129.16/32": "naming.cloud_metadata",
    "169.254.0.0/16": "naming.link_local_metadata",
    "172.16.0.0/12": "naming.private",
    "192.0.0.0/24": "naming.assignments_metadata",
    "192.0.2.0/24": "naming.documentation",
    "192.88.99.0/24": "naming.relays_6to4",
    "192.168.0.0/16": "naming.private",
    "198.18.0.0/15": "naming.benchmarks",
    "198.51.100.0/24": "naming.documentation",
    "203.0.113.0/24": "naming.documentation",
    "224.0.0.0/4": "naming.multicast",
    "240.0.0.0/4": "naming.reserved",
    "::/128": "naming.unspecified",
    "::1/128": "naming.loopback",
    "::ffff:0:0/96": "naming.ipv4_in_ipv6",
    "64:ff9b::/96": "naming.ipv4_in_ipv6",
    "2001::/23": "naming.assignments_teredo",
    "2001:db8::/32": "naming.documentation",
    "2002::/16": "naming.wrapped_6to4",
    "3fff::/20": "naming.documentation",
    "fc00::/7": "naming.private",
    "fe80::/10": "naming.link_local",
    "ff00::/8": "naming.multicast",
}
_TABLE: Final = [(ipaddress.ip_network(text), code) for text, code in _REFUSED.items()]
_PUBLIC_6: Final = ipaddress.IPv6Network("2000::/3")


class AddressRules:
    """The refused ranges, less those that the operator allows."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """allowed: networks as `127.0.0.0/8`; raises ValueError for a text that is none."""
        self._allowed: list[Network] = [ipaddress.ip_network(text) for text in allowed]
        self.refusal = lru_cache(maxsize=4096)(self._refusal)
        """Return why an address may not be connected to, or None; ValueError for no address."""

    def _refusal(self, address: str) -> Message | None:
        parsed = ipaddress.ip_address(address)
        if any(parsed in network for network in self._allowed):
            return None
        for network, code in _TABLE:
            if parsed in network:
                return Message(
                    "naming.refused_network",
                    address=str(parsed),
                    network=str(network),
                    use=Message(code),
                )
        if isinstance(parsed, ipaddress.IPv6Address) and parsed not in _PUBLIC_6:
            return Message("naming.outside_public", address=str(parsed), network=str(_PUBLIC_6))
        return None
