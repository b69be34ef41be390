"""Which addresses a robot may be sent to: the public Internet, and what the operator allows.

Invariant: an address that is not plainly public is refused. IPv4 ranges are those that the IANA
registry of special purposes names; of IPv6 only global unicast (2000::/3) is public, without the
ranges that wrap or translate other addresses, because `2002:7f00:1::` leads to 127.0.0.1.
Source: IANA IPv4 and IPv6 Special-Purpose Address Registries.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Final

__all__ = ["AddressRules"]

IPv4Network = ipaddress.IPv4Network
IPv6Network = ipaddress.IPv6Network

_REFUSED_4: Final = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by providers",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local, and clouds' metadata",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "6to4 relays",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "benchmarks",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved, broadcast",
}
_PUBLIC_6: Final = IPv6Network("2000::/3")
_REFUSED_6: Final = {
    "2001::/23": "protocol assignments, Teredo",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4, leads to IPv4",
    "3fff::/20": "documentation",
}
_NAMES_6: Final = {
    "::/128": "unspecified",
    "::1/128": "loopback",
    "::ffff:0:0/96": "IPv4 in IPv6",
    "64:ff9b::/96": "IPv4 in IPv6",
    "fc00::/7": "private",
    "fe80::/10": "link-local",
    "ff00::/8": "multicast",
}


def _networks(table: dict[str, str]) -> list[tuple[IPv4Network | IPv6Network, str]]:
    return [(ipaddress.ip_network(text), what) for text, what in table.items()]


_TABLES: Final = {4: _networks(_REFUSED_4), 6: _networks(_REFUSED_6) + _networks(_NAMES_6)}


class AddressRules:
    """The refused ranges, less those that the operator allows."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """allowed: networks as `127.0.0.0/8`; they hold for themselves only, not for wrappings."""
        self._allowed = [ipaddress.ip_network(text) for text in allowed]

    def refusal(self, address: str) -> str | None:
        """Return why an address may not be crawled, or None: it may.

        Raises ValueError for a text that is no address.
        """
        parsed = ipaddress.ip_address(address)
        if any(parsed in network for network in self._allowed):
            return None
        for network, what in _TABLES[parsed.version]:
            if parsed in network:
                return f"{parsed} is in {network} ({what}), which is not crawled"
        if isinstance(parsed, ipaddress.IPv6Address) and parsed not in _PUBLIC_6:
            return f"{parsed} is outside {_PUBLIC_6} (public IPv6), and is not crawled"
        return None
