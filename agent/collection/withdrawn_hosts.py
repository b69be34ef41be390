"""Hosts that were taken out of the archive, and how far this home is with dropping them.

Two small files in the folder `collection`, for two writers: `withdrawn.json` is of the process
that hears the manager, `dropped.json` of the one that drops. Each host is handled twice: at once,
and when the list that still named it has surely ended, for pages fetched in between.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from agent.settings.home import write_whole
from shared.frozen import frozen

__all__ = ["Withdrawn", "add_withdrawn", "hosts_to_delete", "note_dropped", "read_withdrawn"]

WITHDRAWN: Final = "withdrawn.json"
DROPPED: Final = "dropped.json"
AFTER_MS: Final = 600_000
"""A list that names a host may hold so long after the host was withdrawn."""


@frozen
class Withdrawn:
    """number: of the newest withdrawal that was heard of. hosts: host key -> when it was heard."""

    number: int = 0
    hosts: dict[str, int] = field(default_factory=dict)


def read_withdrawn(folder: Path) -> Withdrawn:
    """Return the known withdrawals; an unreadable file counts as none, and is asked for again."""
    found = _read(folder / WITHDRAWN)
    try:
        return Withdrawn(int(found["number"]), {str(h): int(m) for h, m in found["hosts"].items()})
    except (KeyError, TypeError, ValueError, AttributeError):
        return Withdrawn()


def add_withdrawn(folder: Path, hosts: Iterable[str], number: int, now_ms: int) -> None:
    """Keep what is to be dropped, and forget what is done with. Raises DiskFullError."""
    passes = _passes(folder)
    left = {
        host: heard_ms
        for host, heard_ms in read_withdrawn(folder).hosts.items()
        if passes.get(host, 0) < heard_ms + AFTER_MS
    }
    left |= dict.fromkeys(hosts, now_ms)
    folder.mkdir(mode=0o700, exist_ok=True)
    write_whole(folder / WITHDRAWN, [json.dumps({"number": number, "hosts": left}).encode()])


def hosts_to_delete(folder: Path, now_ms: int) -> dict[str, int]:
    """Return the hosts to go over now, each with the time up to which its captures go."""
    heard = read_withdrawn(folder).hosts
    if not heard:
        return {}
    passes = _passes(folder)
    return {
        host: heard_ms + AFTER_MS
        for host, heard_ms in heard.items()
        if passes.get(host, -1) < heard_ms or (passes[host] < heard_ms + AFTER_MS <= now_ms)
    }


def note_dropped(folder: Path, hosts: Iterable[str], now_ms: int) -> None:
    """Take note that no segment holds these hosts now. Raises DiskFullError."""
    heard = read_withdrawn(folder).hosts
    passes = {host: at_ms for host, at_ms in _passes(folder).items() if host in heard}
    passes |= {host: max(now_ms, heard[host]) for host in hosts if host in heard}
    write_whole(folder / DROPPED, [json.dumps(passes).encode()])


def _passes(folder: Path) -> dict[str, int]:
    try:
        return {str(host): int(at_ms) for host, at_ms in _read(folder / DROPPED).items()}
    except (TypeError, ValueError):
        return {}


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
