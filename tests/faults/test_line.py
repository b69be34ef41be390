"""A line that is cut: what comes through, what is held, what is refused."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.faults.transit.line import Line

pytestmark = pytest.mark.e2e

PATIENCE_S = 30


class Echo(socketserver.BaseRequestHandler):
    """Sends back what comes."""

    def handle(self) -> None:
        while data := self.request.recv(100):
            self.request.sendall(data)


@contextmanager
def line_to_echo() -> Iterator[Line]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        line = Line(server.server_address[1])
        try:
            yield line
        finally:
            line.close()
            server.shutdown()


def called(line: Line) -> socket.socket:
    return socket.create_connection(("127.0.0.1", line.port), PATIENCE_S)


def test_what_is_held_comes_when_the_line_is_mended() -> None:
    with line_to_echo() as line, called(line) as caller:
        caller.sendall(b"one")
        assert caller.recv(100) == b"one"
        line.hold()
        caller.sendall(b"two")
        caller.settimeout(0.3)
        with pytest.raises(TimeoutError):
            caller.recv(100)
        caller.settimeout(PATIENCE_S)
        line.mend()
        assert caller.recv(100) == b"two"


def test_a_cut_line_ends_what_is_open_and_refuses_what_comes() -> None:
    with line_to_echo() as line, called(line) as caller:
        caller.sendall(b"one")
        assert caller.recv(100) == b"one"
        line.cut()
        assert ended(caller)
        with called(line) as late:
            assert ended(late)
        line.mend()
        with called(line) as again:
            again.sendall(b"three")
            assert again.recv(100) == b"three"


def ended(caller: socket.socket) -> bool:
    try:
        return caller.recv(100) == b""
    except ConnectionResetError:
        return True
