"""What the settings of a site say of its hours."""

from __future__ import annotations

from agent.control.windows import Windows
from agent.control.zone import zone_named
from agent.settings import Settings, window_minutes

__all__ = ["windows_of"]


def windows_of(settings: Settings) -> Windows:
    """Return the hours of the site."""
    site = settings.windows
    return Windows(
        zone_named(site.zone),
        tuple(window_minutes(text) for text in site.weekday),
        tuple(window_minutes(text) for text in site.weekend),
    )
