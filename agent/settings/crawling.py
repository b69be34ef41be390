"""Settings of the crawl: how gently, how far, at what cost for this machine and its network."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, GB, HOUR_S, KB, KIB, MB
from shared.frozen import frozen
from shared.settings import setting

__all__ = [
    "LimitSettings",
    "MemorySettings",
    "NetworkSettings",
    "PageSettings",
    "PolitenessSettings",
]


@frozen
class PolitenessSettings:
    """How gently one address is visited."""

    interval_s: float = setting(
        20.0,
        unit="s",
        least=0,
        most=DAY_S,
        reason="from a fetch to the next; the source",
    )
    fast_interval_s: float = setting(
        10.0, unit="s", least=0, most=DAY_S, reason="for the fastest fifth of the hosts; the source"
    )
    fast_bytes_per_ms: float = setting(
        14.0, unit="bytes/ms", least=0, reason="what counts as fast until 50 hosts are measured"
    )
    times_last: float = setting(
        10.0, unit="times", least=0, most=1000, reason="rest so many times as long as a fetch took"
    )
    burst: int = setting(
        1, unit="requests", least=0, most=1000, reason="in a row on one connection; 0: no limit"
    )
    backoff_cap_s: float = setting(
        3600.0, unit="s", least=0, most=DAY_S, reason="no rest after errors or slow answers longer"
    )
    retry_after_cap_s: float = setting(
        86400.0, unit="s", least=0, most=30 * DAY_S, reason="Retry-After is kept up to here"
    )
    crawl_delay_cap_s: float = setting(
        86400.0, unit="s", least=0, most=30 * DAY_S, reason="Crawl-delay is kept up to here"
    )
    strict_robots: bool = setting(
        False, unit="yes/no", reason="obey any Disallow, whomever it addresses"
    )
    blocked: tuple[str, ...] = setting(
        (), unit="RE2 patterns", reason="URLs that are never fetched from this site"
    )


@frozen
class LimitSettings:
    """How much a site may send us, and how much work it may cause."""

    body_bytes: int = setting(
        20 * MB, unit="bytes", least=1, most=GB, reason="of a page, decoded; more is cut"
    )
    held_bytes: int = setting(
        256 * MB,
        unit="bytes",
        least=MB,
        most=64 * GB,
        reason="of bodies that come in or wait to be read; above it all but one wait",
    )
    header_bytes: int = setting(
        64 * KIB, unit="bytes", least=1000, most=64 * KIB, reason="of an answer; more is no page"
    )
    connect_s: float = setting(
        15.0, unit="s", least=0.1, most=600, reason="until a connection stands, TLS included"
    )
    first_byte_s: float = setting(
        30.0, unit="s", least=0.1, most=600, reason="until an answer begins, connecting included"
    )
    total_s: float = setting(
        300.0,
        unit="s",
        least=0.1,
        most=HOUR_S,
        reason="for a whole fetch, without waiting for bytes_per_s; a permit ends so early",
    )
    least_bytes_per_s: int = setting(
        100, unit="bytes/s", least=0, reason="over 30 s; a tarpit holds a connection no longer"
    )
    retries: int = setting(
        2, unit="times", least=0, most=20, reason="for a page without an answer, or with 429 or 50x"
    )
    retry_s: float = setting(
        60.0, unit="s", least=0, most=DAY_S, reason="until the first; each waits four times as long"
    )
    redirects: int = setting(
        10, unit="hops", least=0, most=50, reason="in a row; Fetch standard allows 20, sites need 5"
    )
    url_chars: int = setting(
        2083, unit="characters", least=64, most=8000, reason="what browsers have always accepted"
    )
    depth: int = setting(
        30, unit="links", least=0, most=10_000, reason="from the top page; deeper is a trap"
    )
    pages_per_host: int = setting(
        100_000, unit="pages", least=1, reason="of one unit and round; more is a trap or a split"
    )
    repeated_segments: int = setting(
        3, unit="times", least=1, most=100, reason="a path segment may occur so often"
    )
    query_shapes: int = setting(
        200, unit="sets", least=0, reason="of parameters of one path; 0: no limit"
    )
    calendar_pages: int = setting(
        100, unit="pages", least=0, reason="of one kind, dated far from today; 0: no limit"
    )
    same_content: int = setting(
        50, unit="pages", least=0, reason="of one kind and equal, in a row, are a trap; 0: never"
    )
    sitemaps: int = setting(
        100, unit="files", least=0, most=50_000, reason="of one robots.txt or index; 0: none"
    )
    public_suffix: bool = setting(
        True, unit="yes/no", reason="report found hosts only if their names could be registered"
    )
    list_bytes: int = setting(
        2 * GB, unit="bytes", least=KB, reason="of a decoded server list: ten million units"
    )


@frozen
class PageSettings:
    """What the work on fetched pages may cost this machine."""

    workers: int = setting(
        -1,
        unit="processes",
        least=-1,
        most=64,
        reason="that read pages; -1: one a core, at most 4; 0: none, a bad page stops all",
    )
    cpu_s: float = setting(
        2.0,
        unit="s",
        least=0.1,
        most=60,
        reason="of CPU to read a page, or to pack it; honest ones take 0.1 s",
    )
    memory_bytes: int = setting(
        512 * MB, unit="bytes", least=192 * MB, most=64 * GB, reason="of a worker, program included"
    )
    most_load: float = setting(
        0.0,
        unit="times a core",
        least=0,
        most=1000,
        reason="load of the machine, this agent's included; above it the crawl pauses; 0: no limit",
    )


@frozen
class NetworkSettings:
    """How much of the site's network is used, and where it may lead."""

    parallel_hosts: int = setting(
        200, unit="hosts", least=1, most=10_000, reason="connections at a time; the source"
    )
    bytes_per_s: int = setting(
        0, unit="bytes/s", least=0, reason="of all fetches together; 0: no limit"
    )
    month_bytes: int = setting(
        0, unit="bytes", least=0, reason="of all fetches in a calendar month; 0: no limit"
    )
    allowed_ranges: tuple[str, ...] = setting(
        (), unit="networks", reason="private ranges that may be crawled, as 127.0.0.0/8"
    )
    content_codings: tuple[str, ...] = setting(
        ("gzip", "deflate"),
        unit="codings",
        reason="asked of servers, also br and zstd: less traffic, but few archive tools read them",
    )
    resolver: tuple[str, ...] = setting(
        (), unit="address:port", reason="name servers to ask; empty: those of the system"
    )
    source_address: str = setting(
        "", unit="address", reason="of this machine, for all fetches; empty: the system chooses"
    )
    proxy: str = setting(
        "", unit="URL", reason="for pages, where a firewall demands one; empty: fetch directly"
    )


@frozen
class MemorySettings:
    """How much is remembered, so that disk and name servers are asked less."""

    seen_urls: int = setting(
        1 << 21,
        unit="URLs",
        least=1,
        most=1 << 30,
        reason="a power of two; 8 bytes each; what they do not hold is asked of the disk",
    )
    hosts: int = setting(
        1 << 20,
        unit="hosts",
        least=1,
        most=1 << 28,
        reason="without work; their addresses need not be asked for again; 20 bytes each",
    )
    seen_by: str = setting(
        "pairs",
        unit="name",
        reason="what remembers them: docs/adr/0045 has the others; their filters miss 0.001 %",
    )
    whole_days: float = setting(
        90.0,
        unit="days",
        least=0,
        most=3650,
        reason="a page that did not change is stored whole again after so long; 0: always",
    )
