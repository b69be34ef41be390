"""The sockets that the manager listens on."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import pytest

from manager.app.web.servers import UNSENT_BYTES, open_listeners
from manager.settings import ServerSettings
from shared.errors import SettingError


def test_an_answer_does_not_wait_behind_its_head(tmp_path: Path) -> None:
    """Each connection sends at once: Nagle's rule would keep a body back for up to 40 ms."""
    listeners = open_listeners(ServerSettings(listen_port=0), tmp_path / "socket")
    try:
        with socket.create_connection(("127.0.0.1", listeners.port), timeout=10):
            accepted, _ = listeners.tcp.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    finally:
        listeners.close()


def test_little_of_an_answer_waits_in_the_system(tmp_path: Path) -> None:
    """A client that reads nothing has some hundred kilobytes copied for it, not megabytes."""
    listeners = open_listeners(ServerSettings(listen_port=0), tmp_path / "socket")
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", listeners.port))
        served, _ = listeners.tcp.accept()
        with served:
            served.setblocking(False)
            taken = 0
            with contextlib.suppress(BlockingIOError):
                while taken < 100 * UNSENT_BYTES:
                    taken += served.send(bytes(16 * 1024))
    listeners.close()
    assert taken <= 2 * UNSENT_BYTES


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    """With the settings' names, and the other socket is not left behind."""
    first = open_listeners(ServerSettings(listen_port=0), tmp_path / "first")
    try:
        with pytest.raises(SettingError, match=rf"server.listen_port = {first.port}: .* in use"):
            open_listeners(ServerSettings(listen_port=first.port), tmp_path / "second")
        assert not (tmp_path / "second").exists()
    finally:
        first.close()
