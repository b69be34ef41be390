"""Effective settings: those of the file that hold now, and the limits that the manager asks for.

Every setting that is read each time (pace, hours, room) can change at once. A setting that a part
was built with (sizes of memories, worker processes, the robot's identity) holds as long as the
process. The manager's limits are laid over the site's: they only make a crawl gentler.
Invariant: whatever a manager sends, no interval gets shorter, no limit higher, nothing that the
site blocks gets open. A stolen manager must not own a partner's network; so address ranges,
contact, hours and proxy are not even part of the question.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from agent.settings.groups import Settings
from shared.frozen import frozen
from shared.wire import sync

__all__ = ["LIVE", "TakenUp", "taken_up", "tightened"]

LIVE: Final[Mapping[str, frozenset[str]]] = {
    "manager": frozenset({"ca_file", "proxy"}),
    "politeness": frozenset(
        {
            *(
                "interval_s",
                "fast_host_interval_s",
                "fast_host_bytes_per_ms",
                "delay_factor",
                "burst_requests",
            ),
            *("max_backoff_s", "max_retry_after_s", "max_host_wait_s"),
            *("max_crawl_delay_s", "blocked_url_patterns"),
        }
    ),
    "limits": frozenset(
        {
            *("retries", "retry_delay_s", "redirects", "url_chars", "depth", "pages_per_unit"),
            *("repeated_path_segments", "query_shapes", "calendar_pages", "duplicate_pages"),
            *("public_suffix", "body_memory_bytes"),
        }
    ),
    "pages": frozenset({"max_load_per_core"}),
    "network": frozenset({"parallel_hosts", "bytes_per_s", "month_bytes"}),
    "windows": frozenset({"weekday", "weekend", "days", "zone"}),
    "disk": frozenset({"reserve_bytes", "outbox_bytes", "log_retention_s", "trash_retention_s"}),
    "collection": frozenset(
        {
            *(
                "bytes_per_s",
                "weekday",
                "weekend",
                "chunk_bytes",
                "retry_delay_s",
                "segment_retention_s",
            ),
        }
    ),
    "reports": frozenset(
        {"daily_log_time", "log_interval_s", "discovery_delay_s", "probe_log_delay_s", "log_bytes"}
    ),
}


@frozen
class TakenUp:
    """Effect of new settings; names are written as `group.name`."""

    settings: Settings
    now: tuple[str, ...]  # changed, and in force from now on
    later: tuple[str, ...]  # changed, and in force from the next start on


def taken_up(running: Settings, wanted: Settings) -> TakenUp:
    """Return the settings to use from now on, where others were written into the file."""
    groups: dict[str, Any] = {}
    now: list[str] = []
    later: list[str] = []
    for group in dataclasses.fields(Settings):
        if group.name == "home":
            continue
        before, after = getattr(running, group.name), getattr(wanted, group.name)
        live = LIVE.get(group.name, frozenset())
        changes: dict[str, Any] = {}
        for one in dataclasses.fields(before):
            if getattr(before, one.name) == getattr(after, one.name):
                continue
            if one.name in live:
                changes[one.name] = getattr(after, one.name)
            (now if one.name in live else later).append(f"{group.name}.{one.name}")
        groups[group.name] = dataclasses.replace(before, **changes)
    return TakenUp(dataclasses.replace(running, **groups), tuple(now), tuple(later))


def tightened(local: Settings, asked: sync.Settings) -> Settings:
    """Return the settings to work under: for each, the stricter of the site's and the manager's.

    The interval asked for is the least for every host, the fast ones too.
    """
    politeness, network = local.politeness, local.network
    if asked.interval_s is not None:
        politeness = dataclasses.replace(
            politeness,
            interval_s=max(politeness.interval_s, asked.interval_s),
            fast_host_interval_s=max(politeness.fast_host_interval_s, asked.interval_s),
        )
    if asked.blocked:
        more = tuple(item for item in asked.blocked if item not in politeness.blocked_url_patterns)
        politeness = dataclasses.replace(
            politeness, blocked_url_patterns=politeness.blocked_url_patterns + more
        )
    if asked.parallel_hosts is not None:
        network = dataclasses.replace(
            network, parallel_hosts=min(network.parallel_hosts, asked.parallel_hosts)
        )
    if asked.bytes_per_s is not None:
        limits = [asked.bytes_per_s, *([network.bytes_per_s] if network.bytes_per_s else [])]
        network = dataclasses.replace(network, bytes_per_s=min(limits))
    return dataclasses.replace(local, politeness=politeness, network=network)
