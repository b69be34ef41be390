"""A site's settings: its hours, its capacity, and how many files they need."""

from __future__ import annotations

import contextlib
import resource
from typing import Final

from agent.control.robot_log import LineLogger
from agent.control.zone import zone_named
from agent.settings import Settings, day_windows, window_minutes
from agent.settings.groups.network import NetworkSettings
from shared.day_hours import DAY_NAMES
from shared.windows import Windows
from shared.wire.sync import Capacity, DayHours

__all__ = ["allow_files", "capacity_of", "files_needed", "windows_of"]

MONTH_S: Final = 30.44 * 86_400
OTHER_FILES: Final = 64  # database, segment, log, name servers, the manager, Python itself
HOURS_TOLD: Final = 24  # windows a day that the wire takes


def windows_of(settings: Settings) -> Windows:
    """Return the hours of the site."""
    site = settings.windows
    days, dates = day_windows(site.days)
    return Windows(
        zone_named(site.zone),
        tuple(window_minutes(text) for text in site.weekday),
        tuple(window_minutes(text) for text in site.weekend),
        days,
        dates,
    )


MOST_BYTES_PER_MS: Final = 1e9
"""Largest that a sync carries; no host is so fast."""


def capacity_of(settings: Settings, calm: float = 1.0) -> Capacity:
    """Return this agent's capacity, as a sync reports it.

    calm: the part of its hours in which the machine's load lets it fetch.
    A zone without a name is reported as UTC: then the length of the hours is right, not their
    time of day.
    """
    windows = windows_of(settings)
    return Capacity(
        parallel_hosts=settings.network.parallel_hosts,
        interval_s=settings.politeness.interval_s,
        burst=settings.politeness.burst_requests,
        fast_interval_s=settings.politeness.fast_host_interval_s,
        fast_bytes_per_ms=min(settings.politeness.fast_host_bytes_per_ms, MOST_BYTES_PER_MS),
        delay_factor=settings.politeness.delay_factor,
        bytes_per_s=_bytes_per_s(settings.network, windows.open_share()),
        reserve_bytes=settings.disk.reserve_bytes,
        most_load=settings.pages.max_load_per_core,
        calm=calm,
        weekday=tuple(windows.weekday)[:HOURS_TOLD],
        weekend=tuple(windows.weekend)[:HOURS_TOLD],
        days=_days_of(windows),
        zone=getattr(windows.zone, "key", None) or "UTC",
    )


def files_needed(settings: Settings) -> int:
    """Return how many files and connections an agent has open at most."""
    return 3 * settings.network.parallel_hosts + OTHER_FILES


def allow_files(settings: Settings, log_line: LineLogger) -> None:
    """Raise this process's limit as far as that goes, and log where it does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files_needed(settings)
    if soft >= wanted:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    if hard < wanted:
        log_line(
            f"{hard} open files are allowed, and {settings.network.parallel_hosts} hosts at a time "
            f"may need {wanted}: raise the limit (ulimit -n), or lower network.parallel_hosts"
        )


def _days_of(windows: Windows) -> tuple[DayHours, ...]:
    named = [(DAY_NAMES[day], hours) for day, hours in sorted(windows.days.items())]
    dated = [(day.isoformat(), hours) for day, hours in sorted(windows.dates.items())]
    return tuple(DayHours(day=day, hours=tuple(hours)[:HOURS_TOLD]) for day, hours in named + dated)


def _bytes_per_s(network: NetworkSettings, open_share: float) -> int:
    """Return what the site's network bears in its hours, a cap of the month spread over them."""
    limits = [network.bytes_per_s] if network.bytes_per_s else []
    if network.month_bytes and open_share:
        limits.append(max(1, round(network.month_bytes / (MONTH_S * open_share))))
    return min(limits, default=0)
