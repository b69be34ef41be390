"""Routes are asked of the kernel."""

from __future__ import annotations

import socket

import pytest

from agent.adapters.dns import has_route


def test_this_machine_reaches_itself() -> None:
    """Whatever network it has."""
    assert has_route("127.0.0.1")


def test_what_the_kernel_refuses_has_no_route(monkeypatch: pytest.MonkeyPatch) -> None:
    """No way out, or no such family at all."""

    class Cut(socket.socket):
        def connect(self, _address: object) -> None:
            raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket, "socket", Cut)
    assert not has_route("192.0.2.1")

    def no_family(*_: object) -> socket.socket:
        raise OSError(97, "Address family not supported by protocol")

    monkeypatch.setattr(socket, "socket", no_family)
    assert not has_route("2001:db8::1")


def test_what_is_no_address_has_none() -> None:
    """Broadcasts are refused by the kernel, without a word to the network."""
    assert not has_route("255.255.255.255")
