"""State of a running web: faults, versions of pages, earlier requests.

Clocks are handed in, so that tests decide what time it is. Everything else about a host is in
its plan and never changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from shared.errors import SettingError
from shared.frozen import frozen
from simweb.sites.chance import draw
from simweb.sites.plan import HostPlan, World
from simweb.sites.trouble import HOST_TROUBLE

__all__ = ["Change", "Running"]

_OLDEST_EPOCH_S = 946_684_800  # 2000-01-01, the year of the source
_OLDEST_SPAN_S = 5 * 365 * 86_400


@frozen
class Change:
    """One command to change pages: which share of them, of one host or of all."""

    number: int
    share: float
    host: int | None
    at_epoch_s: float


class Running:
    """The mutable state of one running web."""

    def __init__(
        self,
        world: World,
        epoch: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.epoch, self.monotonic = epoch, monotonic
        self.started_epoch_s = epoch()
        self._world = world
        self._faults: dict[int, str] = {}
        self._addresses: dict[int, str] = {}
        self._changes: list[Change] = []
        self._busy_until: dict[tuple[int, str], float] = {}
        self._met: set[tuple[int, str]] = set()
        self._last_seen: dict[tuple[str, int], float] = {}

    def fault_of(self, host: HostPlan) -> str:
        """Return the host trouble in force now."""
        return self._faults.get(host.index, host.trouble)

    def set_fault(self, host: HostPlan, kind: str) -> None:
        """Put a host in trouble, or (empty) make it healthy. Raises SettingError."""
        if kind and kind not in HOST_TROUBLE:
            raise SettingError(f"fault {kind!r}: unknown; kinds: {', '.join(HOST_TROUBLE)}")
        self._faults[host.index] = kind

    def address_of(self, host: HostPlan) -> str:
        """Return the first address of a host now."""
        return self._addresses.get(host.index, host.address)

    def addresses_of(self, host: HostPlan) -> tuple[str, ...]:
        """Return all addresses of a host now; one that moved has one."""
        moved = self._addresses.get(host.index)
        return (host.address, *host.more_addresses) if moved is None else (moved,)

    def move(self, host: HostPlan, address: str) -> None:
        """Give a host another address."""
        self._addresses[host.index] = address

    def change(self, share: float, host: HostPlan | None) -> Change:
        """Give a share of the pages (of one host, or of all) a new version, from now on."""
        if not 0 < share <= 1:
            raise SettingError(f"share = {share}: must be over 0 and at most 1; the default is 1")
        index = host.index if host else None
        made = Change(len(self._changes), share, index, self.epoch())
        self._changes.append(made)
        return made

    def version_of(self, host: HostPlan, page: int | str) -> tuple[int, int]:
        """Return a page's version, from 0, and the epoch second since when it is so."""
        version = 0
        since = _OLDEST_EPOCH_S + draw(host.key, "since", page) * _OLDEST_SPAN_S
        period = host.change_every_s
        if period and draw(host.key, "changes", page) < self._world.options.change_share:
            phase = draw(host.key, "phase", page)
            version = int((self.epoch() - self.started_epoch_s) / period + phase)
            if version:
                since = self.started_epoch_s + (version - phase) * period
        for change in self._changes:
            if change.host not in (None, host.index):
                continue
            if draw(host.key, "change", change.number, page) < change.share:
                version += 1
                since = max(since, change.at_epoch_s)
        return version, int(since)

    def still_busy(self, host: HostPlan, path: str, wait_s: float) -> bool:
        """Return whether a `busy` URL still refuses: until `wait_s` after its first request."""
        now = self.monotonic()
        return now < self._busy_until.setdefault((host.index, path), now + wait_s)

    def first_time(self, host: HostPlan, path: str) -> bool:
        """Return whether this URL is asked for the first time."""
        key = (host.index, path)
        if key in self._met:
            return False
        self._met.add(key)
        return True

    def too_fast(self, client: str, host: HostPlan, least_s: float) -> bool:
        """Return whether a client's last request to a host is less than `least_s` ago."""
        now = self.monotonic()
        last = self._last_seen.get((client, host.index))
        self._last_seen[client, host.index] = now
        return last is not None and now - last < least_s
