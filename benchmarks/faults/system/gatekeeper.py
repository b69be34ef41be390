"""A site's proxy that wants a name and a password, and changes its mind about which."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

__all__ = ["Gatekeeper", "gatekeeper"]

HEAD: Final = 65_536
PIECE: Final = 65_536
ASKS: Final = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
    b'Proxy-Authenticate: Basic realm="site"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
)
FORBIDS: Final = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
OPENS: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Gatekeeper:
    """Made by `gatekeeper`. password: whoever shows another one hears 407, from now on."""

    def __init__(self, password: str) -> None:
        self.user, self.password = "site", password
        self.forbids = False  # whoever it is
        self.refused = self.opened = 0
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, password: str = "") -> str:
        """Return what is written into settings."""
        return f"http://{self.user}:{password or self.password}@127.0.0.1:{self.port}"

    def end_tunnels(self) -> None:
        """End open tunnels, as a proxy does that is configured again."""
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.end_tunnels()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(HEAD)
                if not piece or len(head) > HEAD:
                    return
                head += piece
            first, *lines = head.decode("latin-1").split("\r\n")
            answer = self._judge(first, lines)
            client.sendall(answer)
            if answer != OPENS:
                return
            host, _, port = first.split()[1].rpartition(":")
            with socket.create_connection((host, int(port)), timeout=20) as far:
                far.settimeout(None)
                self._tunnel(client, far)

    def _judge(self, first: str, lines: list[str]) -> bytes:
        shown = ""
        for line in lines:
            name, _, value = line.partition(":")
            if name.lower() == "proxy-authorization":
                shown = value.strip().removeprefix("Basic ")
        wanted = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        if self.forbids or not first.startswith("CONNECT "):
            self.refused += 1
            return FORBIDS
        if shown != wanted:
            self.refused += 1
            return ASKS
        self.opened += 1
        return OPENS

    def _tunnel(self, client: socket.socket, far: socket.socket) -> None:
        self._open |= {client, far}
        try:
            back = threading.Thread(target=_pass, args=(far, client), daemon=True)
            back.start()
            _pass(client, far)
            back.join()
        finally:
            self._open -= {client, far}


def _pass(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
    for one in (source, target):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextmanager
def gatekeeper(password: str) -> Iterator[Gatekeeper]:
    """Keep a gate while the block runs."""
    made = Gatekeeper(password)
    try:
        yield made
    finally:
        made.close()
