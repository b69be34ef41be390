"""A server that answers what a test says, without sockets."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from client.login import Login
from client.retry import Patience
from client.server import Server

__all__ = ["TOKEN", "Answers", "server_of"]

TOKEN = "secret-token-of-a-third-party"
Answers = Callable[[httpx.Request], httpx.Response]


def server_of(answers: Answers, *, tries: int = 3) -> Server:
    """Return the way to such a server, with no pauses."""
    return Server(
        Login("https://prsm.example.jp/prsm/", TOKEN),
        Patience(tries=tries, scale=0.0, longest_wait_s=1),
        transport=httpx.MockTransport(answers),
    )
