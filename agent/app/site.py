"""What the settings of a site say of its hours, and of how much it may do."""

from __future__ import annotations

from typing import Final

from agent.control.zone import zone_named
from agent.settings import Settings, window_minutes
from shared.windows import Windows
from shared.wire.sync import Capacity

__all__ = ["capacity_of", "windows_of"]

HOURS_TOLD: Final = 24  # windows a day that the wire takes


def windows_of(settings: Settings) -> Windows:
    """Return the hours of the site."""
    site = settings.windows
    return Windows(
        zone_named(site.zone),
        tuple(window_minutes(text) for text in site.weekday),
        tuple(window_minutes(text) for text in site.weekend),
    )


def capacity_of(settings: Settings) -> Capacity:
    """Return what the manager is told of how much this agent may do.

    A zone without a name is told as UTC: then the length of the hours is right, not when they are.
    """
    windows = windows_of(settings)
    return Capacity(
        parallel_hosts=settings.network.parallel_hosts,
        interval_s=settings.politeness.interval_s,
        burst=settings.politeness.burst,
        bytes_per_s=settings.network.bytes_per_s,
        reserve_bytes=settings.disk.reserve_bytes,
        weekday=list(windows.weekday)[:HOURS_TOLD],
        weekend=list(windows.weekend)[:HOURS_TOLD],
        zone=getattr(windows.zone, "key", None) or "UTC",
    )
