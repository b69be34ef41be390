"""Lines, proxies and name servers that fail when they are told to."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.faults.system.authority import Authority
from benchmarks.faults.system.gatekeeper import Gatekeeper, gatekeeper
from benchmarks.faults.transit.name_relay import name_relay
from benchmarks.faults.transit.wire import Wire, needs_namespaces, wire
from tests.programs import program

pytestmark = pytest.mark.e2e

GREETING = b"hello"
BIG = b"x" * 200_000


@pytest.fixture
def far() -> Iterator[tuple[Wire, tuple[str, int]]]:
    """A line, and where somebody answers at its other end: with BIG to whoever comes.

    Its tests are slow ones, for the machine sees its network namespace.
    """
    program("ip")
    missing = needs_namespaces()
    if missing:
        pytest.skip(missing)
    with wire() as made:
        listener = made.listener()
        with listener:
            threading.Thread(target=_answer_all, args=(listener, BIG), daemon=True).start()
            yield made, listener.getsockname()[:2]
            listener.shutdown(socket.SHUT_RDWR)


def _answer_all(listener: socket.socket, body: bytes) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            client.sendall(body)


def received(address: tuple[str, int], seconds: float) -> bytes:
    """Return what comes from there; empty where nobody is reached."""
    got = b""
    try:
        with socket.create_connection(address, timeout=seconds) as client:
            while piece := client.recv(65_536):
                got += piece
    except OSError:
        return b""
    return got


@pytest.mark.slow
def test_a_line_is_cut_and_mended(far: tuple[Wire, tuple[str, int]]) -> None:
    """Nobody at the other end of a cut line is reached; mended, it is as before."""
    line, address = far
    assert received(address, 60) == BIG
    line.cut()
    assert received(address, 1) == b""
    line.mend()
    assert received(address, 60) == BIG


@pytest.mark.slow
def test_a_throttled_line_carries_all_and_takes_its_time(
    far: tuple[Wire, tuple[str, int]],
) -> None:
    """200 kB at 1,600 kbit/s are a second at least."""
    line, address = far
    line.throttle(1600)
    begun_s = time.monotonic()
    assert received(address, 60) == BIG
    assert time.monotonic() - begun_s > 0.7
    line.full_speed()
    assert received(address, 60) == BIG


@pytest.mark.slow
def test_a_line_that_loses_all_packets_reaches_nobody(far: tuple[Wire, tuple[str, int]]) -> None:
    """And one that loses none any more reaches everybody."""
    program("nft")
    line, address = far
    line.lose(100)
    assert received(address, 1) == b""
    line.lose_nothing()
    assert received(address, 60) == BIG


def test_a_certificate_is_believed_by_its_own_authority(tmp_path: Path) -> None:
    """And by no other."""
    one, other = (Authority(tmp_path, name) for name in ("one", "other"))
    assert handshake(one, one) == GREETING
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(one, other)


def handshake(signed_by: Authority, believed: Authority) -> bytes:
    """Return what a server says whose certificate one authority signed, to who believes another."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            try:
                with signed_by.context("127.0.0.1").wrap_socket(client, server_side=True) as safe:
                    safe.sendall(GREETING)
            except OSError:
                return

        thread = threading.Thread(target=serve)
        thread.start()
        context = ssl.create_default_context(cafile=believed.file)
        try:
            with (
                socket.create_connection(listener.getsockname(), timeout=60) as plain,
                context.wrap_socket(plain, server_hostname="127.0.0.1") as safe,
            ):
                return safe.recv(100)
        finally:
            thread.join(60)


def asked(gate: Gatekeeper, target: int, password: str) -> bytes:
    """Ask a gate for a way to a port; return the first line that it says."""
    shown = base64.b64encode(f"site:{password}".encode()).decode()
    head = f"CONNECT 127.0.0.1:{target} HTTP/1.1\r\nProxy-Authorization: Basic {shown}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", gate.port), timeout=60) as client:
        client.sendall(head.encode())
        return client.recv(1000).split(b"\r\n")[0]


def test_a_gate_opens_to_its_password_of_now() -> None:
    """Yesterday's is refused, and so is everybody while it forbids."""
    with (
        socket.create_server(("127.0.0.1", 0)) as target,
        gatekeeper("spring") as gate,
    ):
        port = target.getsockname()[1]
        assert b" 200 " in asked(gate, port, "spring")
        gate.password = "autumn"
        assert b" 407 " in asked(gate, port, "spring")
        assert b" 200 " in asked(gate, port, "autumn")
        gate.forbids = True
        assert b" 403 " in asked(gate, port, "autumn")
        assert (gate.opened, gate.refused) == (2, 2)


def test_a_silent_name_server_is_asked_in_vain() -> None:
    """It answers again when it is silent no more."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def echo() -> None:
            for _ in range(2):
                question, client = server.recvfrom(1000)
                server.sendto(question, client)

        thread = threading.Thread(target=echo)
        thread.start()
        with (
            name_relay(server.getsockname()[1]) as relay,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
        ):
            client.settimeout(60)
            client.sendto(b"one", ("127.0.0.1", relay.port))
            assert client.recv(100) == b"one"
            relay.silent = True
            client.sendto(b"two", ("127.0.0.1", relay.port))
            client.settimeout(0.5)
            with pytest.raises(TimeoutError):
                client.recv(100)
            relay.silent = False
            client.settimeout(60)
            client.sendto(b"three", ("127.0.0.1", relay.port))
            assert client.recv(100) == b"three"
            assert relay.unanswered == 1
        thread.join()
