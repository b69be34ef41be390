"""Old names of settings: releases 0.2 and 0.3 read and report them, so that a site can go back."""

from __future__ import annotations

from typing import Final

from shared.settings import Renamed

__all__ = ["RENAMED"]

_IN_0_2: Final = {
    "network.resolver": "dns.servers",
    "network.allowed_ranges": "dns.allowed_networks",
    "naming.servers": "dns.servers",
    "naming.allowed_networks": "dns.allowed_networks",
    "manager.backoff_max_s": "manager.max_backoff_s",
    "robot.token": "robot.product_token",
    "politeness.fast_interval_s": "politeness.fast_host_interval_s",
    "politeness.fast_bytes_per_ms": "politeness.fast_host_bytes_per_ms",
    "politeness.times_last": "politeness.delay_factor",
    "politeness.burst": "politeness.burst_requests",
    "politeness.backoff_cap_s": "politeness.max_backoff_s",
    "politeness.retry_after_cap_s": "politeness.max_retry_after_s",
    "politeness.crawl_patience_s": "politeness.max_host_wait_s",
    "politeness.crawl_delay_cap_s": "politeness.max_crawl_delay_s",
    "politeness.blocked": "politeness.blocked_url_patterns",
    "limits.held_bytes": "limits.body_memory_bytes",
    "limits.least_bytes_per_s": "limits.min_bytes_per_s",
    "limits.retry_s": "limits.retry_delay_s",
    "limits.pages_per_host": "limits.pages_per_unit",
    "limits.repeated_segments": "limits.repeated_path_segments",
    "limits.same_content": "limits.duplicate_pages",
    "limits.list_bytes": "limits.server_list_bytes",
    "links.off": "links.disabled_kinds",
    "links.well_known": "links.well_known_files",
    "pages.cpu_s": "pages.page_cpu_s",
    "pages.memory_bytes": "pages.worker_memory_bytes",
    "pages.most_load": "pages.max_load_per_core",
    "memory.seen_by": "memory.seen_url_filter",
    "memory.whole_days": "disk.full_capture_days",
    "disk.commit_s": "disk.commit_interval_s",
    "disk.keep_logs_s": "disk.log_retention_s",
    "disk.trash_s": "disk.trash_retention_s",
    "reports.at": "reports.daily_log_time",
    "reports.every_s": "reports.log_interval_s",
    "reports.hosts_s": "reports.discovery_delay_s",
    "reports.probe_s": "reports.probe_log_delay_s",
    "collection.retry_s": "collection.retry_delay_s",
    "collection.keep_s": "collection.segment_retention_s",
}
RENAMED: Final = tuple(Renamed(old, new, until="0.4") for old, new in _IN_0_2.items())
