"""Old names of settings: refused with the new name, as a manager's file is edited at an upgrade."""

from __future__ import annotations

from typing import Final

from shared.settings import Renamed

__all__ = ["RENAMED"]

_IN_0_2: Final = {
    "naming.servers": "dns.servers",
    "naming.timeout_s": "dns.timeout_s",
    "naming.tries": "dns.attempts",
    "naming.at_once": "dns.parallel_queries",
    "naming.batch": "dns.hosts_per_tick",
    "naming.allowed_networks": "dns.allowed_networks",
}
RENAMED: Final = tuple(Renamed(old, new) for old, new in _IN_0_2.items())
