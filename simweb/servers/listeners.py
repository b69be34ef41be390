"""The listening sockets: one port on many addresses, all in 127.0.0.0/8, and no other."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable, Iterable

from shared.errors import SettingError

__all__ = ["Listeners", "bound_socket"]

_LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
_BACKLOG = 1_024
_ATTEMPTS = 20


class Listeners:
    """Servers by address. Closing one lets its open connections live."""

    def __init__(self, make: Callable[[], asyncio.Protocol]) -> None:
        self._make = make
        self._bound: dict[str, socket.socket] = {}
        self._servers: dict[str, asyncio.Server] = {}
        self.port = 0

    def bind(self, addresses: Iterable[str], port: int) -> None:
        """Take one port on all addresses; 0 takes one that is free on every one of them."""
        wanted = list(addresses)
        for _ in range(1 if port else _ATTEMPTS):
            bound = _bound(wanted, port)
            if bound is not None:
                break
        else:
            raise SettingError(
                f"--port = {port}: taken on one of {len(wanted)} addresses; 0 finds a free one"
            )
        self._bound = bound
        self.port = next(iter(bound.values())).getsockname()[1]

    async def start(self) -> None:
        """Listen on everything that is bound."""
        while self._bound:
            address, sock = self._bound.popitem()
            await self._serve(address, sock)

    async def add(self, address: str) -> None:
        """Listen on one more address; nothing happens when it is listened on."""
        if address in self._servers:
            return
        await self._serve(address, bound_socket(address, self.port))

    def remove(self, address: str) -> None:
        """Stop listening on an address, so that connections are refused."""
        server = self._servers.pop(address, None)
        if server is not None:
            server.close()

    def close(self) -> None:
        """Stop listening everywhere."""
        for address in list(self._servers):
            self.remove(address)

    async def _serve(self, address: str, sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._servers[address] = await loop.create_server(self._make, sock=sock, backlog=_BACKLOG)


def _bound(addresses: list[str], port: int) -> dict[str, socket.socket] | None:
    """Return bound sockets by address, all with one port; None when it is taken on one."""
    sockets: dict[str, socket.socket] = {}
    try:
        for address in addresses:
            sockets[address] = bound_socket(address, port)
            port = port or sockets[address].getsockname()[1]
    except OSError as error:
        for sock in sockets.values():
            sock.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise SettingError(
            f"cannot listen on address {len(sockets) + 1} of {len(addresses)}: {error.strerror}; "
            "raise `ulimit -n` or lower --hosts"
        ) from error
    return sockets


def bound_socket(
    address: str, port: int, kind: socket.SocketKind = socket.SOCK_STREAM
) -> socket.socket:
    """Return a socket at a port of a loopback address. Raises OSError, SettingError."""
    if ipaddress.ip_address(address) not in _LOOPBACK:
        raise SettingError(f"address {address}: outside 127.0.0.0/8; simweb stays on loopback")
    sock = socket.socket(socket.AF_INET, kind)
    try:
        if kind is socket.SOCK_STREAM:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setblocking(False)
        sock.bind((address, port))
    except OSError:
        sock.close()
        raise
    return sock
