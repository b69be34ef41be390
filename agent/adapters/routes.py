"""Routes of this machine to an address, looked up without sending anything.

A datagram socket that is connected asks the kernel for the route, and no more.
"""

from __future__ import annotations

import socket
from typing import Final

__all__ = ["has_route"]

_DISCARD: Final = 9  # any port does


def has_route(address: str) -> bool:
    """Return whether packets to an address have a way out of this machine."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((address, _DISCARD))
    except OSError:
        return False
    return True
