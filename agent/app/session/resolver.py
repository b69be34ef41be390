"""Resolver of host names as the site's settings describe it."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from typing import Final

from agent.adapters.dns import DnsResolver, ResolverOptions
from agent.settings import Settings
from shared.naming import KINDS, AddressRules, NameServers

__all__ = ["resolver_of"]

LOOK_UP_S: Final = 5.0  # for the first answer of a name server; twice as long with each try
LOOK_UP_TRIES: Final = 3


def resolver_of(
    settings: Settings,
    rules: AddressRules,
    *,
    timeout_s: float = LOOK_UP_S,
    tries: int = LOOK_UP_TRIES,
) -> DnsResolver:
    """Return the resolver of this site."""
    network = settings.network
    source = ip_address(network.source_address) if network.source_address else None
    kinds = KINDS
    if source is not None and not network.proxy:  # by which the proxy is called, not the host
        kinds = ("AAAA",) if isinstance(source, IPv6Address) else ("A",)
    options = ResolverOptions(kinds, proxied=bool(network.proxy))
    servers = NameServers(settings.dns.servers, timeout_s=timeout_s, tries=tries)
    return DnsResolver(servers, rules.refusal, options)
