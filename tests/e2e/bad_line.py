"""A bad line: a relay that cuts connections and changes bytes of what comes back.

Which bytes is chosen by a seed, so a run can be repeated.
"""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

__all__ = ["BadLine", "bad_line"]

PIECE_BYTES = 16 * 1024


@dataclass
class BadLine:
    """What a relay does, and did. cut_bytes: each connection ends after so many, chosen between.

    flip_at: the byte, counted over all that came back, that is changed; -1: none.
    slow_s: pause after each piece. tunnels: clients say first where to, as they do to a proxy.
    """

    target: int
    cut_bytes: tuple[int, int] | None = None
    flip_at: int = -1
    slow_s: float = 0.0
    tunnels: bool = False
    refuse: bytes = b""  # what it answers itself, instead of asking anybody
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    port: int = 0
    connections: int = 0
    sent_bytes: int = 0
    flipped: int = 0

    def __post_init__(self) -> None:
        self._changing = threading.Lock()
        self._stopping = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Return where clients reach it."""
        return f"http://127.0.0.1:{self.port}/"

    def close(self) -> None:
        """Take no more connections."""
        self._stopping.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        if self.refuse:
            with client, suppress(OSError):
                client.recv(PIECE_BYTES)
                client.sendall(self.refuse)
            return
        with client, suppress(OSError), socket.create_connection(("127.0.0.1", self.target)) as up:
            if self.tunnels:
                asked = client.recv(PIECE_BYTES)
                if not asked.startswith(f"CONNECT 127.0.0.1:{self.target} ".encode()):
                    return
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(target=self._send_on, args=(client, up), daemon=True).start()
            left = self.chance.randint(*self.cut_bytes) if self.cut_bytes else 1 << 60
            while left > 0 and (piece := up.recv(min(PIECE_BYTES, left))):
                client.sendall(self._changed(piece))
                left -= len(piece)
                if self.slow_s:
                    self._stopping.wait(self.slow_s)
            for end in (client, up):
                end.shutdown(socket.SHUT_RDWR)

    def _changed(self, piece: bytes) -> bytes:
        with self._changing:
            begin, self.sent_bytes = self.sent_bytes, self.sent_bytes + len(piece)
            if not begin <= self.flip_at < self.sent_bytes:
                return piece
            self.flipped += 1
            at = self.flip_at - begin
        return piece[:at] + bytes([piece[at] ^ 0x55]) + piece[at + 1 :]

    def _send_on(self, client: socket.socket, up: socket.socket) -> None:
        with suppress(OSError):
            while piece := client.recv(PIECE_BYTES):
                up.sendall(piece)
            up.shutdown(socket.SHUT_WR)


@contextmanager
def bad_line(target: int, **how: object) -> Iterator[BadLine]:
    """Put a bad line before a port."""
    line = BadLine(target, **how)  # type: ignore[arg-type]
    try:
        yield line
    finally:
        line.close()
