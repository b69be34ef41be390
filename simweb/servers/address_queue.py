"""Queues of addresses that can answer only so many requests a second.

An address answers one request after the other, each in 1 / capacity seconds, so its answers come
the later the more is asked. A request that would wait too long is refused, as overloaded servers
do, and costs nothing.
"""

from __future__ import annotations

from simweb.sites.options import WorldOptions

__all__ = ["AddressQueues"]


class AddressQueues:
    """The time at which each address has answered all that it was asked."""

    def __init__(self, options: WorldOptions) -> None:
        self._each_s = 1 / options.address_per_s if options.address_per_s else 0.0
        self._longest_s = options.address_wait_s
        self._free_s: dict[str, float] = {}

    def enter(self, address: str, now_s: float) -> float | None:
        """Return in how many seconds a request is answered; None: its address refuses it."""
        if not self._each_s:
            return 0.0
        free_s = max(now_s, self._free_s.get(address, 0.0)) + self._each_s
        if free_s - now_s > max(self._longest_s, self._each_s):
            return None
        self._free_s[address] = free_s
        return free_s - now_s
