"""Addresses of the crawl: where a host answers, and whose clock its requests follow.

Behind a proxy, which looks names up, a host's name stands for its address, written `//name`. All
ports and schemes of a name share it, as they would share the address.
"""

from __future__ import annotations

from shared.urls import split_host

__all__ = ["pinned", "stand_in"]


def stand_in(host: str) -> str:
    """Return the placeholder for the address of a host key where a proxy finds it."""
    return f"//{split_host(host)[1]}"


def pinned(address: str) -> str:
    """Return the address to connect to; "" where a name stands for it: a proxy finds it."""
    return "" if "/" in address else address
