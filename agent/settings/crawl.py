"""Settings of the crawl: how gently, how far, at what cost for this machine and its network."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, GB, HOUR_S, KB, KIB, MB
from shared.frozen import frozen
from shared.settings import Range, setting
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
        Range("s", 0, DAY_S),
        "pause from the end of a fetch to the next at the same address; as in the original paper",
    )
    fast_host_interval_s: float = setting(
        10.0,
        Range("s", 0, DAY_S),
        "pause between two fetches at the fastest fifth of the hosts; as in the original paper",
    )
    fast_host_bytes_per_ms: float = setting(
        14.0,
        Range("bytes/ms", 0),
        "how fast a host must be to count as fast, until 50 hosts are measured",
    )
    delay_factor: float = setting(
        10.0,
        Range("times", 0, 1000),
        "an address rests so many times as long as its last fetch took: a slow answer is a loaded "
        "server",
    )
    burst_requests: int = setting(
        1,
        Range("requests", 0, 1000),
        "how many requests follow one another on one connection without a pause; 0: no limit",
    )
    max_backoff_s: float = setting(
        3600.0,
        Range("s", 0, DAY_S),
        "longest rest of an address after errors or slow answers, unless its server asked for more",
    )
    max_retry_after_s: float = setting(
        86400.0,
        Range("s", 0, 30 * DAY_S),
        "longest Retry-After of a server that is kept; of a longer one only so much",
    )
    max_host_wait_s: float = setting(
        7200.0,
        Range("s", 60, 30 * DAY_S),
        "how long a crawl waits for a page of a host that asks for time (Retry-After, 429 or 503 "
        "in a row, Crawl-delay); after more its units are closed, and the next round asks again",
    )
    max_crawl_delay_s: float = setting(
        86400.0,
        Range("s", 0, 30 * DAY_S),
        "longest Crawl-delay of a robots.txt that is kept; of a longer one only so much",
    )
    strict_robots: bool = setting(
        False, "yes/no", "whether any Disallow of a robots.txt is obeyed, whomever it addresses"
    )
    blocked_url_patterns: tuple[str, ...] = setting(
        (), "RE2 patterns", "patterns of URLs that are never fetched from this site"
    )


@frozen
class LimitSettings:
    """Limits on the data that a site may send us, and on the work that it may cause."""

    body_bytes: int = setting(
        20 * MB,
        Range("bytes", 1, GB),
        "largest page, decoded, that is kept whole; the rest of a larger one is cut off",
    )
    body_memory_bytes: int = setting(
        256 * MB,
        Range("bytes", MB, 64 * GB),
        "memory for bodies that come in or wait to be read; above it all but one wait",
    )
    header_bytes: int = setting(
        64 * KIB,
        Range("bytes", 1000, 64 * KIB),
        "largest header of an answer; with a larger one it is no page",
    )
    connect_s: float = setting(
        15.0, Range("s", 0.1, 600), "how long a connection may take until it stands, TLS included"
    )
    first_byte_s: float = setting(
        30.0,
        Range("s", 0.1, 600),
        "how long a server may take until its answer begins, connecting included",
    )
    total_s: float = setting(
        300.0,
        Range("s", 0.1, HOUR_S),
        "how long a whole fetch may take, without waiting for network.bytes_per_s; a permit ends "
        "so much earlier",
    )
    min_bytes_per_s: int = setting(
        100,
        Range("bytes/s", 0),
        "an answer that is slower than this for 30 s is given up; a tarpit holds a connection no "
        "longer",
    )
    retries: int = setting(
        2,
        Range("times", 0, 20),
        "how often a page without an answer, or with 408, 425, 429 or 5xx (not 501, 505), is tried "
        "again",
    )
    retry_delay_s: float = setting(
        60.0,
        Range("s", 0, DAY_S),
        "how long after a failure a page is tried again; each further try waits four times as long",
    )
    redirects: int = setting(
        10,
        Range("hops", 0, 50),
        "how many redirects in a row are followed; Fetch standard allows 20, sites need 5",
    )
    url_chars: int = setting(
        2083,
        Range("characters", 64, 8000),
        "longest URL that is fetched; what browsers have always accepted",
    )
    depth: int = setting(
        30,
        Range("links", 0, 10_000),
        "how many links a page may be away from the top page; deeper is a trap",
    )
    pages_per_unit: int = setting(
        100_000,
        Range("pages", 1),
        "how many pages of one unit are fetched in a round; more is a trap, or a host to split",
    )
    repeated_path_segments: int = setting(
        3,
        Range("times", 1, 100),
        "how often segments of a URL's path may come in a row; more is a loop of links, unless "
        "they are numbers",
    )
    query_shapes: int = setting(
        200,
        Range("sets", 0),
        "how many different sets of parameters one path may have; more is a trap; 0: no limit",
    )
    calendar_pages: int = setting(
        100,
        Range("pages", 0),
        "how many pages of one kind with dates far from today are fetched; 0: no limit",
    )
    duplicate_pages: int = setting(
        50,
        Range("pages", 0),
        "so many equal pages of one kind in a row are a trap, of which hardly more is fetched; 0: "
        "never",
    )
    sitemaps: int = setting(
        100,
        Range("files", 0, 50_000),
        "how many sitemaps of one robots.txt or index are read; 0: none",
    )
    public_suffix: bool = setting(
        True, "yes/no", "whether found hosts are reported only if their names could be registered"
    )
    server_list_bytes: int = setting(
        2 * GB,
        Range("bytes", KB),
        "largest server list that is taken from the manager, decoded; the default is ten million "
        "units",
    )


@frozen
class LinkSettings:
    """Kinds of links that are followed."""

    disabled_kinds: tuple[str, ...] = setting(
        (),
        "kinds",
        "kinds of links that are not followed, as ping or string; prs status shows the results of "
        "each kind",
    )
    well_known_files: tuple[str, ...] = setting(
        WELL_KNOWN_NAMES,
        "names",
        "files below /.well-known/ that are asked for once a host and round, after its pages; "
        "empty: none",
    )


@frozen
class PageSettings:
    """Limits on the cost of work on fetched pages for this machine."""

    workers: int = setting(
        -1,
        Range("processes", -1, 64),
        "how many processes read pages; -1: one a core, at most 4; 0: none, a bad page stops all",
    )
    page_cpu_s: float = setting(
        2.0,
        Range("s", 0.1, 60),
        "processor time to read a page, or to pack it; honest ones take 0.1 s",
    )
    worker_memory_bytes: int = setting(
        512 * MB,
        Range("bytes", 192 * MB, 64 * GB),
        "memory of each process that reads pages, program included",
    )
    max_load_per_core: float = setting(
        0.0,
        Range("times a core", 0, 1000),
        "load of the machine, this agent's included, above which the crawl pauses; 0: no limit",
    )


@frozen
class NetworkSettings:
    """Use of the site's network: limits, and the way that requests leave by."""

    parallel_hosts: int = setting(
        200,
        Range("hosts", 1, 10_000),
        "how many hosts are fetched from at the same time; as in the original paper",
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


@frozen
class MemorySettings:
    """Sizes of memories that spare the disk and the name servers."""

    seen_urls: int = setting(
        1 << 21,
        Range("URLs", 1, 1 << 30),
        "how many URLs that were seen are in memory, a power of two, 8 bytes each; the disk is "
        "asked about others",
    )
    hosts: int = setting(
        1 << 20,
        Range("hosts", 1, 1 << 28),
        "how many hosts without work have their addresses in memory, 20 bytes each; no name server "
        "is asked again",
    )
    seen_url_filter: str = setting(
        "pairs",
        "name",
        "how URLs that were seen are held in memory: docs/adr/0045 has the others, whose filters "
        "miss 0.001 %",
    )
