"""Units as the source's files write them: `www.example.jp`, one word that needs no scheme.

`http` at its own port is a bare name, another port stands behind a colon, a directory behind the
name; `https` says so: `https://www.example.jp/`. Invariant: `unit_named(server_name(key)) == key`.
Source: seed 004, section 5.2.2 (the server's name begins each line) and 5.1.2 (a line of a list
that begins with no scheme gets `http://`).
"""

from __future__ import annotations

from typing import Final

from shared.units import unit_key
from shared.urls import DEFAULT_PORTS, split_host
from shared.wire.server_list import complete_line

__all__ = ["complete_unit", "server_name", "unit_named"]

BARE: Final = "http"


def server_name(key: str) -> str:
    """Return how a unit's key is written in a file of the source."""
    scheme, name, port = split_host(key)
    path = key[key.index("/", len(scheme) + 3) :]
    place = name if port == DEFAULT_PORTS[scheme] else f"{name}:{port}"
    if scheme != BARE:
        return f"{scheme}://{place}{path}"
    return place if path == "/" else place + path


def unit_named(text: str) -> str:
    """Return the key of the unit that a word of such a file names; raises UrlError."""
    return unit_key(complete_unit(text))


def complete_unit(word: str) -> str:
    """Return the URL that a word stands for; a scheme that we do not crawl stays to be refused."""
    return word if "://" in word else complete_line(word)
