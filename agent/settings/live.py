"""Settings that a running agent can take up, and the values that hold until the next start.

Every setting that is read each time (pace, hours, room) can change at once. A setting that a part
was built with (sizes of memories, worker processes, the robot's identity) holds as long as the
process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from agent.settings.groups import Settings
from shared.frozen import frozen

__all__ = ["LIVE", "TakenUp", "taken_up"]

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
