"""Settings of the agent: hours in which it crawls."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import setting

__all__ = ["WindowSettings"]


@frozen
class WindowSettings:
    """Hours in which requests may be sent. The source: weekday 02:00-08:00, weekend 02:00-22:00."""

    weekday: tuple[str, ...] = setting(
        ("00:00-24:00",),
        "times",
        "hours of Monday to Friday in which requests are sent; empty: never on these days",
    )
    weekend: tuple[str, ...] = setting(
        ("00:00-24:00",),
        "times",
        "hours of Saturday and Sunday in which requests are sent; empty: never on these days",
    )
    days: tuple[str, ...] = setting(
        (),
        "days and times",
        'days and dates with other hours, as "fri 02:00-06:00", "2026-12-29..2027-01-03 '
        'always", "sun never"',
    )
    zone: str = setting(
        "",
        "time zone",
        "time zone of the hours in these settings, as Asia/Tokyo; empty: the zone of this machine",
    )
