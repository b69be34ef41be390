"""Connections that were left open: at most one an address.

libcurl keeps a connection for each name; two names at one address would be two connections that a
server holds open for us. So a connection to an address is hung up before one under another name
is made.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address

__all__ = ["IdleConnections", "same_address"]


class IdleConnections:
    """What libcurl keeps open, as far as it matters, by address."""

    def __init__(self, limit: int, hang_up: Callable[[int, str], None]) -> None:
        """hang_up: ends the connection of a descriptor, if it is one to an address."""
        self._limit = limit
        self._hang_up = hang_up
        self._idle: dict[str, tuple[str, int]] = {}  # (host, descriptor), oldest first

    def keep(self, address: str, host: str, descriptor: int) -> None:
        """Note that a connection stays open; `descriptor` is its socket's, -1: unknown."""
        if address and descriptor >= 0:
            self._idle[address] = (host, descriptor)
            if len(self._idle) > self._limit:
                del self._idle[next(iter(self._idle))]

    def hang_up(self, address: str) -> None:
        """Hang up what was left open at an address, under whichever name."""
        self.make_way(address, "")

    def make_way(self, address: str, host: str) -> int:
        """Hang up what was left open at an address under another name than this host.

        Return the descriptor of what was left open under this one, -1: there was nothing.
        """
        idle = self._idle.pop(address, None)
        if idle is None:
            return -1
        if idle[0] == host:
            return idle[1]
        self._hang_up(idle[1], address)
        return -1


def same_address(one: str, other: str) -> bool:
    """Tell whether two texts are the same address; what is none is never the same."""
    if one == other:
        return True
    try:
        return ip_address(one) == ip_address(other)
    except ValueError:
        return False
