"""A line to a server on this machine, that is led elsewhere or cut as a test likes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

__all__ = ["Relay", "relayed"]

PIECE = 65_536


@dataclass
class Relay:
    """Connections to `port` go to `target`; the next are cut behind so many bytes of answer."""

    port: int
    target: int
    cuts: list[int] = field(default_factory=list)

    def carry(self, near: socket.socket) -> None:
        """Carry one connection."""
        left = self.cuts.pop(0) if self.cuts else 1 << 40
        with near, socket.create_connection(("127.0.0.1", self.target)) as far, suppress(OSError):
            threading.Thread(target=_pump, args=(near, far), daemon=True).start()
            while left > 0 and (data := far.recv(min(left, PIECE))):
                near.sendall(data)
                left -= len(data)
            # The pump still reads from both.
            near.shutdown(socket.SHUT_RDWR)
            far.shutdown(socket.SHUT_RDWR)


@contextmanager
def relayed(target: int, cuts: Sequence[int] = ()) -> Iterator[Relay]:
    """Carry connections to a port until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        relay = Relay(int(listener.getsockname()[1]), target, list(cuts))

        def accept() -> None:
            with suppress(OSError):
                while True:
                    near, _ = listener.accept()
                    threading.Thread(target=relay.carry, args=(near,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield relay
        listener.shutdown(socket.SHUT_RDWR)


def _pump(near: socket.socket, far: socket.socket) -> None:
    with suppress(OSError):
        while data := near.recv(PIECE):
            far.sendall(data)
