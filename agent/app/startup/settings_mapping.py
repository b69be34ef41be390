"""Settings translated into the options of each part.

Invariant: a setting that is not carried over here has no effect; tests hold the two lists together.
"""

from __future__ import annotations

import os
from ipaddress import IPv6Address, ip_address
from typing import Final

import re2

from agent.adapters.curl.options import FetchOptions, system_ca_file
from agent.adapters.dns import DnsResolver, ResolverOptions
from agent.adapters.pages.pool import WorkerOptions
from agent.modules.filter import Blocked
from agent.modules.limits import CrawlLimits, PageLimits, Politeness, SeenUrls
from agent.pipeline.link_kinds import LinkKind
from agent.settings import Settings
from agent.settings.user_agent import user_agent, version
from shared.archive.encode import SegmentInfo
from shared.errors import SettingError
from shared.naming import KINDS, AddressRules, NameServers

__all__ = [
    "MOST_WORKERS",
    "blocked_by",
    "crawl_limits",
    "fetch_options",
    "page_limits",
    "permit_margin_s",
    "politeness",
    "resolver_of",
    "segment_info",
    "worker_options",
]

LOOK_UP_S: Final = 5.0  # for the first answer of a name server; twice as long with each try
LOOK_UP_TRIES: Final = 3
MOST_WORKERS: Final = 4
"""More than the process that fetches can keep busy."""


def politeness(settings: Settings) -> Politeness:
    """Return how gently addresses are visited."""
    site = settings.politeness
    return Politeness(
        interval_s=site.interval_s,
        fast_interval_s=min(site.fast_host_interval_s, site.interval_s),
        fast_bytes_per_ms=site.fast_host_bytes_per_ms,
        times_last=site.delay_factor,
        burst=site.burst_requests,
        backoff_cap_s=site.max_backoff_s,
        retry_after_cap_s=site.max_retry_after_s,
        crawl_delay_cap_s=site.max_crawl_delay_s,
        strict_robots=site.strict_robots,
    )


def crawl_limits(settings: Settings) -> CrawlLimits:
    """Return where the crawl stops."""
    site, memory = settings.limits, settings.memory
    return CrawlLimits(
        parallel=settings.network.parallel_hosts,
        addresses_in_memory=settings.memory.addresses,
        crawl_patience_s=settings.politeness.max_host_wait_s,
        retries=site.retries,
        retry_s=site.retry_delay_s,
        body_bytes=site.body_bytes,
        redirects=site.redirects,
        url_chars=site.url_chars,
        depth=site.depth,
        pages_per_host=site.pages_per_unit,
        repeated_segments=site.repeated_path_segments,
        query_shapes=site.query_shapes,
        calendar_pages=site.calendar_pages,
        same_content=site.duplicate_pages,
        sitemaps=site.sitemaps,
        guess_sitemaps=not _is_off(settings, LinkKind.WELL_KNOWN),
        well_known=()
        if _is_off(settings, LinkKind.WELL_KNOWN)
        else settings.links.well_known_files,
        require_public_suffix=site.public_suffix,
        hosts_in_memory=settings.memory.hosts,
        seen=SeenUrls(
            structure=memory.seen_url_filter,
            urls=memory.seen_urls,
            hashes=memory.seen_url_hashes,
            counters=memory.seen_url_counters,
            false_positive_rate=memory.seen_url_false_positive_rate,
        ),
        foreign_in_memory=settings.memory.foreign_urls,
        foreign_pages=settings.links.foreign_pages_per_host,
    )


def fetch_options(settings: Settings) -> FetchOptions:
    """Return what all requests have in common."""
    limits, network = settings.limits, settings.network
    return FetchOptions(
        user_agent=user_agent(settings),
        from_address=settings.robot.contact,
        accept_encoding=", ".join(network.content_codings) or "identity",
        max_header_bytes=limits.header_bytes,
        connect_s=limits.connect_s,
        first_byte_s=limits.first_byte_s,
        deadline_s=limits.total_s,
        rate=network.bytes_per_s,
        held_bytes=limits.body_memory_bytes,
        min_rate=limits.min_bytes_per_s,
        max_idle=2 * network.parallel_hosts,
        ca_file=system_ca_file(),
        source_address=network.source_address,
        proxy=network.proxy,
    )


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


def page_limits(settings: Settings) -> PageLimits:
    """Return what one page may cost."""
    return PageLimits(
        agent_token=settings.robot.product_token,
        max_decoded_bytes=settings.limits.body_bytes,
        max_sitemaps=settings.limits.sitemaps,
        document_cpu_s=settings.pages.page_cpu_s / 2,
        off=tuple(kind.value for kind in LinkKind if _is_off(settings, kind)),
    )


def _is_off(settings: Settings, kind: LinkKind) -> bool:
    return kind.name.lower() in settings.links.disabled_kinds


def worker_options(settings: Settings) -> WorkerOptions:
    """Return how many processes work on pages, and their limits. No workers: in this process."""
    site = settings.pages
    cores = len(os.sched_getaffinity(0))
    return WorkerOptions(
        workers=min(cores, MOST_WORKERS) if site.workers < 0 else site.workers,
        cpu_s=site.page_cpu_s,
        memory_bytes=site.worker_memory_bytes,
        silence_s=max(30.0, 15 * site.page_cpu_s),
    )


def permit_margin_s(settings: Settings) -> float:
    """Return how much earlier a permit ends here: a request's deadline and its address's rest."""
    return settings.limits.total_s + settings.politeness.interval_s


def segment_info(settings: Settings, name: str) -> SegmentInfo:
    """Return what each segment says of the robot that wrote it."""
    robot = settings.robot
    return SegmentInfo(
        software=f"prsm/{version()}",
        operator=name,
        contact="; ".join(filter(None, (robot.info_url, robot.contact))),
        user_agent=user_agent(settings),
        hostname=name,
    )


def blocked_by(patterns: tuple[str, ...]) -> Blocked:
    """Return the test for URLs that site or manager forbid. Raises SettingError.

    All patterns are one automaton: a URL costs the same for one pattern as for ten thousand.
    """
    if not patterns:
        return lambda _: False
    options = re2.Options()
    options.log_errors = False
    wanted = re2.Set.SearchSet(options)
    for pattern in patterns:
        try:
            wanted.Add(pattern)
        except re2.error as error:
            raise SettingError(
                "agent_errors.blocked_pattern", pattern=pattern, why=str(error)
            ) from error
    wanted.Compile()
    return lambda url: bool(wanted.Match(url))
