"""A port for a server that a test or a benchmark starts, kept from everybody else.

A port that is only looked up and let go may be another server's before the first one binds it:
then one waits for nginx and is answered by a stranger. Shared by `tools`, `tests`, `benchmarks`.
"""

from __future__ import annotations

import socket

__all__ = ["HeldPort"]


class HeldPort:
    """A port, at all addresses, that no other process is given for as long as this is there.

    Servers may listen on it meanwhile, one after the other, if they set SO_REUSEADDR as servers do.
    Held until the end of a `with`, or for as long as this object is referred to.
    """

    def __init__(self) -> None:
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("0.0.0.0", 0))  # noqa: S104  nothing listens
        self.number: int = self._held.getsockname()[1]

    def __enter__(self) -> int:
        return self.number

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def __del__(self) -> None:
        self._held.close()
