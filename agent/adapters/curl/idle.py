"""Connections that were left open: at most one an address.

libcurl keeps a connection for each name; two names at one address would be two connections that a
server holds open for us. So a connection to an address is hung up before one under another name
is made.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from ipaddress import ip_address

__all__ = ["IdleConnections", "same_address"]


class IdleConnections:
    """What libcurl keeps open, as far as it matters, by address."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
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
        # libcurl offers no way to close one connection. The descriptor may be somebody else's by
        # now, or a file's; only a connection to this very address is ended.
        with suppress(OSError), _connection(idle[1]) as connection:
            peer = connection.getpeername()
            if isinstance(peer, tuple) and same_address(peer[0], address):
                connection.shutdown(socket.SHUT_RDWR)
        return -1


def _connection(descriptor: int) -> socket.socket:
    """Return a socket of our own on what a descriptor leads to. Raises OSError: it is none."""
    copy = socket.dup(descriptor)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def same_address(one: str, other: str) -> bool:
    """Tell whether two texts are the same address; what is none is never the same."""
    if one == other:
        return True
    try:
        return ip_address(one) == ip_address(other)
    except ValueError:
        return False
