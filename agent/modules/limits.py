"""Limits of the modules: politeness and bounds, as plain numbers.

The agent's settings are mapped to these; every default is the one that holds without a setting,
but for what is asked for without a link.
"""

from __future__ import annotations

from typing import Final

from shared.crawl_scope.evaluation import EVERYTHING, ScopeRules
from shared.frozen import frozen

__all__ = ["OUTSIDE_SCOPE", "CrawlLimits", "PageLimits", "Politeness"]

OUTSIDE_SCOPE: Final = "outside of the crawl's scope"
"""Reason for which a URL is not fetched, or a unit ends, by `CrawlLimits.scope`."""


@frozen
class Politeness:
    """Politeness towards an address. The interval is from the end of a fetch to the next start."""

    interval_s: float = 20.0
    """Seconds between two requests to an address. Source: seed 004, 5.1.4."""

    fast_interval_s: float = 10.0
    """The same for the fastest fifth of the hosts: they have room to spare. Source: as above."""

    fast_bytes_per_ms: float = 14.0
    """Bytes per millisecond that make a host fast until enough are measured. Source: as above."""

    fast_hosts_measured: int = 50
    """Hosts after which the 80th percentile of our own measurements takes over."""

    times_last: float = 10.0
    """Rest so many times as long as the last fetch took: a slow answer is a loaded server.
    0: never. Source: seed 002, Mercator."""

    burst: int = 1
    """Requests in a row on one kept-alive connection; 0: without limit, as the source did."""

    backoff_cap_s: float = 3600.0
    """Seconds: no interval gets longer, however often a server fails or however slow it is."""

    backoff_least_s: float = 1.0
    """Seconds from which the doubling begins where the interval is 0."""

    retry_after_cap_s: float = 86400.0
    """Seconds: a `Retry-After` is honoured up to a day; a round does not last longer."""

    crawl_delay_cap_s: float = 86400.0
    """Seconds: a `Crawl-delay` is honoured up to a day, and the status names the excess. Of
    two requests a day one is for the rules, which hold as long: a host that asks for more would
    hardly give a page."""

    strict_robots: bool = False
    """Any `Disallow` is obeyed, whomever it addresses. Source: seed 000, 5.2.4, which did."""


@frozen
class CrawlLimits:
    """Bounds of the crawl: against traps, endless sites and its own memory."""

    parallel: int = 200
    """Addresses to which a request is under way at a time, each on one connection. Source: seed
    004, 5.1.4, whose agents crawl so many hosts at a time."""

    addresses_in_memory: int = 4_000
    """Addresses that stay in memory between two requests, some 4 KB each; of more there are records
    of 300 bytes."""

    retries: int = 2
    """Further attempts for a URL without an answer, or with 408, 425, 429 or any 5xx but 501 and
    505; the source had none."""

    retry_s: float = 60.0
    """Seconds until the first further attempt of a URL; each one waits four times as long."""

    failures_in_a_row: int = 8
    """Requests to a host without any answer, or with 502, 503, 504 or 509 and above, until it is
    given up; with doubling intervals from 20 s that takes an hour and a half."""

    offline_addresses: int = 5
    """Addresses that had answered and fell silent, while no address answers, until it is taken to
    be our own network; no host is given up then. Where all that had answered are fewer, they must
    be silent for as many requests as nearly give a host up."""

    offline_s: float = 9000.0
    """Seconds for which that is believed at most: longer than a permit lasts."""

    rules_retries: int = 3
    """Further attempts for a robots.txt that is unreachable, until its host is given up."""

    rules_retry_s: float = 60.0
    """Seconds until the first of them; each one waits four times as long."""

    probe_rules_retries: int = 1
    """The same for a probe: a round waits for its slowest probe, and a lost packet is no reason."""

    probe_rules_retry_s: float = 15.0
    """Seconds until it, if only probes wait for the rules; the address rests longer anyway."""

    probe_patience_s: float = 300.0
    """Seconds of rest after which a probe is given up: a `Retry-After`, a `Crawl-delay`, or the
    fourth error in a row at an interval of 20 s. A crawl waits."""

    crawl_patience_s: float = 7200.0
    """Seconds without a page for which a crawl waits because its host asks for time: by
    `Retry-After`, by 429 or 503 in a row, or by a `Crawl-delay`. What is longer closes the host's
    units as unfinished: it holds for this host and not for the round, whose next one asks again."""

    rules_s: float = 86400.0
    """Seconds for which a robots.txt holds: RFC 9309, 2.4, at most 24 h."""

    rules_hops: int = 5
    """Redirects that a robots.txt may lie behind: RFC 9309, 2.3.1.2."""

    sitemaps: int = 100
    """Sitemaps that one robots.txt, or one index, may name: with 50,000 URLs each they hold more
    than a unit may have pages. 0: none is read."""

    guess_sitemaps: bool = False
    """Return whether `/sitemap.xml` and `/sitemap_index.xml` are asked for, once for each job. The
    settings say yes; a crawl without settings asks only for linked pages."""

    well_known: tuple[str, ...] = ()
    """Files below `/.well-known/` that are asked for, once for each job; the settings have some."""

    rules_kept: int = 5_000
    """Hosts whose rules are in memory; of one more, the longest unused go to the disk."""

    short_rules: int = 1_000_000
    """Rules of all of these, but for long robots.txt: 300 bytes each; a long one counts as more."""

    long_rules: int = 500_000
    """Rules of those with more than 200; one more such host waits for others to end."""

    body_bytes: int = 20_000_000
    """Bytes of a body as received: more is cut and marked as truncated."""

    redirects: int = 10
    """Hops in a row: sites need 5, browsers follow 20."""

    url_chars: int = 2083
    """Characters of a URL: what browsers have always accepted."""

    depth: int = 30
    """Links from the top page: deeper is a trap."""

    pages_per_host: int = 100_000
    """Pages of one unit and round: more is a trap, or a unit that should be split."""

    repeated_segments: int = 3
    """Times in a row that path segments may occur in a URL: `/a/b/a/b/a/b/a/` is a loop of links.
    Numbers do not count, and elsewhere in a path equal pages must prove a loop."""

    query_shapes: int = 200
    """Different sets of parameters that one path may have: filters of a shop, in any combination.
    0: any number."""

    calendar_pages: int = 100
    """Pages of one kind with dates before 1900 or later than the next two years. 0: any number."""

    same_content: int = 50
    """Equal pages in a row under URLs of one kind, until hardly any of that kind is fetched.
    0: never."""

    require_public_suffix: bool = True
    """A host outside our units is reported only if its name could be registered."""

    window: int = 64
    """URLs of each of a job's levels that are in memory; the others wait on disk."""

    under_way: int = 1000
    """Pages that may be fetched and not stored yet: beyond it fetching waits for the workers."""

    seen_in_memory: int = 1 << 21
    """URLs that dedup remembers before it asks the disk: 16 MB. Source: seed 003 has half of it."""

    seen_by: str = "pairs"
    """The structure that remembers them, of `agent.modules.seen`; docs/adr/0045."""

    hosts_in_memory: int = 1 << 20
    """Hosts without work whose address is remembered while it holds: 16 MB, and as many again with
    an IPv6 address."""

    lookups: int = 50
    """Names that are looked up at a time: a site's resolver is shared with people."""

    lookup_retries: int = 3
    """Further attempts for a name whose servers do not answer."""

    lookup_retry_s: float = 30.0
    """Seconds until the first of them; each one waits four times as long."""

    ttl_least_s: float = 300.0
    """Seconds for which an address is used at least: some names say 0."""

    ttl_most_s: float = 86400.0
    """Seconds after which a name is looked up again, whatever it says."""

    refresh_s: float = 3600.0
    """Seconds after which the name of a host that is crawled is looked up again even if no new
    page of it was found; shorter times only when there is one."""

    stale_s: float = 86400.0
    """Seconds for which a host whose name can no longer be looked up keeps its address."""

    scope: ScopeRules = EVERYTHING
    """Scope of the whole crawl, by the manager: URLs outside are not fetched, and its rules may
    lower `depth` and `pages_per_host` for some."""

    gap_s: float = 60.0
    """Seconds without a tick after which the process was as good as not running: all addresses
    rest once more, because another agent may have been given them."""


@frozen
class PageLimits:
    """Limits for one page. Sizes are of the decoded body."""

    agent_token: str  # who we are in `<meta>` and X-Robots-Tag
    max_decoded_bytes: int = 20_000_000
    max_links: int = 50_000
    max_sitemaps: int = 100  # that one index may name; 0: none is read
    document_cpu_s: float = 1.0  # for reading one PDF
    off: tuple[int, ...] = ()  # kinds of links that are none
