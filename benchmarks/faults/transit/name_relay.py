"""The way to a name server, which can fall silent: questions go in, no answer comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["NameRelay", "name_relay"]

DATAGRAM = 65_535
ANSWER_S = 5.0


class NameRelay:
    """Made by `name_relay`; passes on by UDP at one port of loopback."""

    def __init__(self, to_port: int) -> None:
        self.silent = False
        self.unanswered = 0
        self._to = ("127.0.0.1", to_port)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self.port = int(self._udp.getsockname()[1])
        self._ended = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop passing on."""
        self._ended = True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", ("127.0.0.1", self.port))
        self._thread.join()
        self._udp.close()

    def _serve(self) -> None:
        while not self._ended:
            question, client = self._udp.recvfrom(DATAGRAM)
            if self.silent:
                self.unanswered += 1
            elif question:
                threading.Thread(target=self._pass, args=(question, client), daemon=True).start()

    def _pass(self, question: bytes, client: tuple[str, int]) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as upstream, suppress(OSError):
            upstream.settimeout(ANSWER_S)
            upstream.sendto(question, self._to)
            answer = upstream.recv(DATAGRAM)
            self._udp.sendto(answer, client)


@contextmanager
def name_relay(to_port: int) -> Iterator[NameRelay]:
    """Pass questions on to a name server at a port of loopback."""
    made = NameRelay(to_port)
    try:
        yield made
    finally:
        made.close()
