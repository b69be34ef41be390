"""Sign of life for systemd, where it asked for one: sd_notify(3) in one datagram."""

from __future__ import annotations

import contextlib
import os
import socket

__all__ = ["notify_systemd"]


def notify_systemd(text: str = "WATCHDOG=1") -> None:
    """Send a state to the service manager that started this process; without one, do nothing."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):  # a name that is in no file system
        address = "\0" + address[1:]
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender,
    ):
        sender.sendto(text.encode(), address)
