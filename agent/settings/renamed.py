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
}
RENAMED: Final = tuple(Renamed(old, new, until="0.4") for old, new in _IN_0_2.items())
