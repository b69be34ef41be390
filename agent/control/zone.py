"""The time zone that this machine lives in, by name where it has one."""

from __future__ import annotations

import os
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["system_zone", "zone_named"]


def zone_named(name: str) -> tzinfo:
    """Return the zone that the settings name; empty: this machine's."""
    return ZoneInfo(name) if name else system_zone()


def system_zone(etc: Path = Path("/etc"), environment: str | None = None) -> tzinfo:
    """Return the machine's zone: TZ, then /etc/localtime, then UTC."""
    wanted = os.environ.get("TZ", "") if environment is None else environment
    local = etc / "localtime"
    for name in (wanted.lstrip(":"), _linked(local)):
        if not name:
            continue
        try:
            return ZoneInfo(name)
        except (ValueError, OSError, ZoneInfoNotFoundError):
            continue
    try:
        with local.open("rb") as file:
            return ZoneInfo.from_file(file, "localtime")
    except (OSError, ValueError):
        return UTC


def _linked(local: Path) -> str:
    """Return `Asia/Tokyo` where localtime is a link to .../zoneinfo/Asia/Tokyo."""
    target = str(local.resolve())
    _, found, name = target.partition("/zoneinfo/")
    return name if found else ""
