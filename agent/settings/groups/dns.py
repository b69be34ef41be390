"""Settings of the agent: look-ups of host names."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import setting

__all__ = ["DnsSettings"]


@frozen
class DnsSettings:
    """Look-ups of host names: the servers asked, and the addresses allowed."""

    servers: tuple[str, ...] = setting(
        (),
        "address:port",
        "name servers that are asked for the addresses of hosts; empty: those of this machine",
    )
    allowed_networks: tuple[str, ...] = setting(
        (),
        "networks",
        "refused address ranges (private, loopback, link-local, ...) in which hosts may be crawled "
        "all the same, as 127.0.0.0/8",
    )
