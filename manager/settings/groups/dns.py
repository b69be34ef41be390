"""Settings of the manager: look-ups of host names."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["DnsSettings"]


@frozen
class DnsSettings:
    """Resolution of host names, and the addresses that may be crawled."""

    servers: tuple[str, ...] = setting(
        (),
        "address:port",
        "name servers that are asked for the addresses of hosts; empty: those of this machine; "
        "`127.0.0.1:5353` for a test",
    )
    timeout_s: float = setting(
        3.0,
        Range("s", 0.1, 60),
        "how long the answer of a name server is waited for; twice as long with each further try",
    )
    attempts: int = setting(
        2,
        Range("questions", 1, 10),
        "how often a question is sent before it counts as unanswered; UDP loses packets",
    )
    parallel_queries: int = setting(
        50,
        Range("questions", 1, 1000),
        "how many names are asked about at the same time; a site's name server bears so many",
    )
    hosts_per_tick: int = setting(
        500,
        Range("hosts", 1, 100_000),
        "how many hosts are looked up in one tick of the manager's clock; the rest follows with "
        "the next",
    )
    allowed_networks: tuple[str, ...] = setting(
        (),
        "networks",
        "refused address ranges (private, loopback, link-local, ...) in which hosts may be crawled "
        'all the same; ["127.0.0.0/8"] for the simulated web',
    )
    country_file: str = setting(
        "",
        "path",
        "database of the countries of addresses in MMDB format, for scope rules by country; "
        "`/var/lib/GeoIP/GeoLite2-Country.mmdb`; read again when it is replaced; empty: none",
    )
