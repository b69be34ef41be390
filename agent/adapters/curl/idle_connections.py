"""Connections that were left open: at most one an address.

libcurl keeps a connection for each name; two names at one address would be two connections that a
server holds open for us. So a connection to an address is hung up before one under another name
is made. At an address that many sites share, requests to several are under way together; of the
connections that they leave open the last one stays.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

from shared.frozen import frozen

__all__ = ["IdleConnections", "same_address"]


TRUSTED_S: Final = 2.0
"""How long after its last use libcurl may take a connection that ended: a second, and rounding."""


@frozen
class _Idle:
    """A connection that was left open; `port` is that of our side."""

    host: str
    descriptor: int
    port: int


class IdleConnections:
    """Open connections of libcurl, by address."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._idle: dict[str, _Idle] = {}  # by address, oldest first
        self._hung_up_s: dict[str, float] = {}  # host: when, the oldest first

    def keep(self, address: str, host: str, descriptor: int, port: int, now_s: float) -> None:
        """Note that a connection stays open, and end the one that another host left there.

        descriptor: of its socket, -1: unknown. port: that of our side.
        """
        if not address or descriptor < 0:
            return
        before = self._idle.pop(address, None)
        if before is not None and before.descriptor != descriptor:
            self._end(address, before, now_s)
        self._idle[address] = _Idle(host, descriptor, port)
        if len(self._idle) > self._limit:
            del self._idle[next(iter(self._idle))]

    def hang_up(self, address: str, now_s: float) -> None:
        """Close the idle connection to an address, of any host."""
        self.make_way(address, "", now_s)

    def make_way(self, address: str, host: str, now_s: float) -> int:
        """Close the idle connection to an address if it is another host's.

        Return the descriptor of this host's idle connection. -1: there is none, or it is closed,
        too, because another of this host was closed just before: libcurl does not check a
        connection that it used within a second, and might send over the closed one.
        """
        idle = self._idle.pop(address, None)
        if idle is None:
            return -1
        if idle.host == host and now_s - self._hung_up_s.get(host, -TRUSTED_S) >= TRUSTED_S:
            return idle.descriptor
        self._end(address, idle, now_s)
        return -1

    def note_end(self, host: str, now_s: float) -> None:
        """Note that a connection to a host was hung up, by us or by its server."""
        self._hung_up_s.pop(host, None)
        self._hung_up_s[host] = now_s
        while len(self._hung_up_s) > self._limit:
            del self._hung_up_s[next(iter(self._hung_up_s))]

    def _end(self, address: str, idle: _Idle, now_s: float) -> None:
        _end(idle, address)
        self.note_end(idle.host, now_s)


def _end(idle: _Idle, address: str) -> None:
    """End a connection that libcurl keeps, for which it has no call.

    The descriptor can belong to another connection or a file now: a connection is ended only if it
    leads to this address, from the port of our side that it had.
    """
    with suppress(OSError), _connection(idle.descriptor) as connection:
        peer, ours = connection.getpeername(), connection.getsockname()
        if not isinstance(peer, tuple) or not same_address(peer[0], address):
            return
        if ours[1] == idle.port:
            connection.shutdown(socket.SHUT_RDWR)


def _connection(descriptor: int) -> socket.socket:
    """Return a socket of our own on what a descriptor leads to. Raises OSError: it is none."""
    copy = socket.dup(descriptor)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def same_address(one: str, other: str) -> bool:
    """Return whether two texts are the same address; what is none is never the same."""
    if one == other:
        return True
    try:
        return ip_address(one) == ip_address(other)
    except ValueError:
        return False
