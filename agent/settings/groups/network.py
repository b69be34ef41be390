"""Settings of the agent: connections and bandwidth."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["NetworkSettings"]


@frozen
class NetworkSettings:
    """Use of the site's network: limits, and the way that requests leave by."""

    parallel_hosts: int = setting(
        200,
        Range("hosts", 1, 10_000),
        "how many requests are under way at the same time, each to another host; as in the "
        "original paper",
    )
    bytes_per_s: int = setting(
        0, Range("bytes/s", 0), "how fast all fetches together may be; 0: no limit"
    )
    month_bytes: int = setting(
        0,
        Range("bytes", 0),
        "how much all fetches may bring in a calendar month, then the crawl pauses; 0: no limit",
    )
    content_codings: tuple[str, ...] = setting(
        ("gzip", "deflate"),
        "codings",
        "compressions that servers are asked for; br and zstd save more traffic, but few archive "
        "tools read them",
    )
    source_address: str = setting(
        "",
        "address",
        "address of this machine from which all fetches go out; empty: the system chooses",
    )
    proxy: str = setting(
        "", "URL", "proxy for fetching pages, where a firewall demands one; empty: fetch directly"
    )
