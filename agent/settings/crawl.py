"""Settings of the crawl: how gently, how far, at what cost for this machine and its network."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, GB, HOUR_S, KB, KIB, MB
from shared.frozen import frozen
from shared.settings import setting
from shared.well_known import WELL_KNOWN_NAMES

__all__ = [
    "DnsSettings",
    "LimitSettings",
    "LinkSettings",
    "MemorySettings",
    "NetworkSettings",
    "PageSettings",
    "PolitenessSettings",
]


@frozen
class PolitenessSettings:
    """Pace of requests to one address."""

    interval_s: float = setting(
        20.0,
        unit="s",
        least=0,
        most=DAY_S,
        reason="pause from the end of a fetch to the next at the same address; as in the original "
        "paper",
    )
    fast_host_interval_s: float = setting(
        10.0,
        unit="s",
        least=0,
        most=DAY_S,
        reason="pause between two fetches at the fastest fifth of the hosts; as in the original "
        "paper",
    )
    fast_host_bytes_per_ms: float = setting(
        14.0,
        unit="bytes/ms",
        least=0,
        reason="how fast a host must be to count as fast, until 50 hosts are measured",
    )
    delay_factor: float = setting(
        10.0,
        unit="times",
        least=0,
        most=1000,
        reason="an address rests so many times as long as its last fetch took: a slow answer is a "
        "loaded server",
    )
    burst_requests: int = setting(
        1,
        unit="requests",
        least=0,
        most=1000,
        reason="how many requests follow one another on one connection without a pause; 0: no "
        "limit",
    )
    max_backoff_s: float = setting(
        3600.0,
        unit="s",
        least=0,
        most=DAY_S,
        reason="longest rest of an address after errors or slow answers, unless its server asked "
        "for more",
    )
    max_retry_after_s: float = setting(
        86400.0,
        unit="s",
        least=0,
        most=30 * DAY_S,
        reason="longest Retry-After of a server that is kept; of a longer one only so much",
    )
    max_host_wait_s: float = setting(
        7200.0,
        unit="s",
        least=60,
        most=30 * DAY_S,
        reason="how long a crawl waits for a page of a host that asks for time (Retry-After, 429 "
        "or 503 in a row, Crawl-delay); after more its units are closed, and the next round asks "
        "again",
    )
    max_crawl_delay_s: float = setting(
        86400.0,
        unit="s",
        least=0,
        most=30 * DAY_S,
        reason="longest Crawl-delay of a robots.txt that is kept; of a longer one only so much",
    )
    strict_robots: bool = setting(
        False,
        unit="yes/no",
        reason="whether any Disallow of a robots.txt is obeyed, whomever it addresses",
    )
    blocked_url_patterns: tuple[str, ...] = setting(
        (), unit="RE2 patterns", reason="patterns of URLs that are never fetched from this site"
    )


@frozen
class LimitSettings:
    """Limits on the data that a site may send us, and on the work that it may cause."""

    body_bytes: int = setting(
        20 * MB,
        unit="bytes",
        least=1,
        most=GB,
        reason="largest page, decoded, that is kept whole; the rest of a larger one is cut off",
    )
    body_memory_bytes: int = setting(
        256 * MB,
        unit="bytes",
        least=MB,
        most=64 * GB,
        reason="memory for bodies that come in or wait to be read; above it all but one wait",
    )
    header_bytes: int = setting(
        64 * KIB,
        unit="bytes",
        least=1000,
        most=64 * KIB,
        reason="largest header of an answer; with a larger one it is no page",
    )
    connect_s: float = setting(
        15.0,
        unit="s",
        least=0.1,
        most=600,
        reason="how long a connection may take until it stands, TLS included",
    )
    first_byte_s: float = setting(
        30.0,
        unit="s",
        least=0.1,
        most=600,
        reason="how long a server may take until its answer begins, connecting included",
    )
    total_s: float = setting(
        300.0,
        unit="s",
        least=0.1,
        most=HOUR_S,
        reason="how long a whole fetch may take, without waiting for network.bytes_per_s; a "
        "permit ends so much earlier",
    )
    min_bytes_per_s: int = setting(
        100,
        unit="bytes/s",
        least=0,
        reason="an answer that is slower than this for 30 s is given up; a tarpit holds a "
        "connection no longer",
    )
    retries: int = setting(
        2,
        unit="times",
        least=0,
        most=20,
        reason="how often a page without an answer, or with 408, 425, 429 or 5xx (not 501, "
        "505), is tried again",
    )
    retry_delay_s: float = setting(
        60.0,
        unit="s",
        least=0,
        most=DAY_S,
        reason="how long after a failure a page is tried again; each further try waits four times "
        "as long",
    )
    redirects: int = setting(
        10,
        unit="hops",
        least=0,
        most=50,
        reason="how many redirects in a row are followed; Fetch standard allows 20, sites need 5",
    )
    url_chars: int = setting(
        2083,
        unit="characters",
        least=64,
        most=8000,
        reason="longest URL that is fetched; what browsers have always accepted",
    )
    depth: int = setting(
        30,
        unit="links",
        least=0,
        most=10_000,
        reason="how many links a page may be away from the top page; deeper is a trap",
    )
    pages_per_unit: int = setting(
        100_000,
        unit="pages",
        least=1,
        reason="how many pages of one unit are fetched in a round; more is a trap, or a host to "
        "split",
    )
    repeated_path_segments: int = setting(
        3,
        unit="times",
        least=1,
        most=100,
        reason="how often segments of a URL's path may come in a row; more is a loop of links, "
        "unless they are numbers",
    )
    query_shapes: int = setting(
        200,
        unit="sets",
        least=0,
        reason="how many different sets of parameters one path may have; more is a trap; 0: no "
        "limit",
    )
    calendar_pages: int = setting(
        100,
        unit="pages",
        least=0,
        reason="how many pages of one kind with dates far from today are fetched; 0: no limit",
    )
    duplicate_pages: int = setting(
        50,
        unit="pages",
        least=0,
        reason="so many equal pages of one kind in a row are a trap, of which hardly more is "
        "fetched; 0: never",
    )
    sitemaps: int = setting(
        100,
        unit="files",
        least=0,
        most=50_000,
        reason="how many sitemaps of one robots.txt or index are read; 0: none",
    )
    public_suffix: bool = setting(
        True,
        unit="yes/no",
        reason="whether found hosts are reported only if their names could be registered",
    )
    server_list_bytes: int = setting(
        2 * GB,
        unit="bytes",
        least=KB,
        reason="largest server list that is taken from the manager, decoded; the default is ten "
        "million units",
    )


@frozen
class LinkSettings:
    """Kinds of links that are followed."""

    disabled_kinds: tuple[str, ...] = setting(
        (),
        unit="kinds",
        reason="kinds of links that are not followed, as ping or string; prs status shows the "
        "results of each kind",
    )
    well_known_files: tuple[str, ...] = setting(
        WELL_KNOWN_NAMES,
        unit="names",
        reason="files below /.well-known/ that are asked for once a host and round, after its "
        "pages; empty: none",
    )


@frozen
class PageSettings:
    """Limits on the cost of work on fetched pages for this machine."""

    workers: int = setting(
        -1,
        unit="processes",
        least=-1,
        most=64,
        reason="how many processes read pages; -1: one a core, at most 4; 0: none, a bad page "
        "stops all",
    )
    page_cpu_s: float = setting(
        2.0,
        unit="s",
        least=0.1,
        most=60,
        reason="processor time to read a page, or to pack it; honest ones take 0.1 s",
    )
    worker_memory_bytes: int = setting(
        512 * MB,
        unit="bytes",
        least=192 * MB,
        most=64 * GB,
        reason="memory of each process that reads pages, program included",
    )
    max_load_per_core: float = setting(
        0.0,
        unit="times a core",
        least=0,
        most=1000,
        reason="load of the machine, this agent's included, above which the crawl pauses; 0: no "
        "limit",
    )


@frozen
class NetworkSettings:
    """Use of the site's network: limits, and the way that requests leave by."""

    parallel_hosts: int = setting(
        200,
        unit="hosts",
        least=1,
        most=10_000,
        reason="how many hosts are fetched from at the same time; as in the original paper",
    )
    bytes_per_s: int = setting(
        0, unit="bytes/s", least=0, reason="how fast all fetches together may be; 0: no limit"
    )
    month_bytes: int = setting(
        0,
        unit="bytes",
        least=0,
        reason="how much all fetches may bring in a calendar month, then the crawl pauses; 0: no "
        "limit",
    )
    content_codings: tuple[str, ...] = setting(
        ("gzip", "deflate"),
        unit="codings",
        reason="compressions that servers are asked for; br and zstd save more traffic, but few "
        "archive tools read them",
    )
    source_address: str = setting(
        "",
        unit="address",
        reason="address of this machine from which all fetches go out; empty: the system chooses",
    )
    proxy: str = setting(
        "",
        unit="URL",
        reason="proxy for fetching pages, where a firewall demands one; empty: fetch directly",
    )


@frozen
class DnsSettings:
    """Look-ups of host names: the servers asked, and the addresses allowed."""

    servers: tuple[str, ...] = setting(
        (),
        unit="address:port",
        reason="name servers that are asked for the addresses of hosts; empty: those of this "
        "machine",
    )
    allowed_networks: tuple[str, ...] = setting(
        (),
        unit="networks",
        reason="refused address ranges (private, loopback, link-local, ...) in which hosts may be "
        "crawled all the same, as 127.0.0.0/8",
    )


@frozen
class MemorySettings:
    """Sizes of memories that spare the disk and the name servers."""

    seen_urls: int = setting(
        1 << 21,
        unit="URLs",
        least=1,
        most=1 << 30,
        reason="how many URLs that were seen are in memory, a power of two, 8 bytes each; the "
        "disk is asked about others",
    )
    hosts: int = setting(
        1 << 20,
        unit="hosts",
        least=1,
        most=1 << 28,
        reason="how many hosts without work have their addresses in memory, 20 bytes each; no "
        "name server is asked again",
    )
    seen_url_filter: str = setting(
        "pairs",
        unit="name",
        reason="how URLs that were seen are held in memory: docs/adr/0045 has the others, whose "
        "filters miss 0.001 %",
    )
