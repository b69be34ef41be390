"""Registrable domain of a host: what one person registered, by the Public Suffix List.

The list is that of the library, with its private part: `a.github.io` and `b.github.io` are two
domains. Invariant: every host has a domain: an IP literal and a public suffix are their own, and
below an unknown suffix it is the last two labels.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Final

from publicsuffixlist import PublicSuffixList

from shared.urls import split_host

__all__ = ["registrable_domain"]

_IPV4: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+")


@lru_cache(maxsize=1 << 16)
def registrable_domain(host: str) -> str:
    """Return the registrable domain of a host key (`http://www.example.com:80/`)."""
    name: str = split_host(host)[1]
    if name.startswith("[") or _IPV4.fullmatch(name):
        return name
    return _list().privatesuffix(name) or name


@cache
def _list() -> Any:
    return PublicSuffixList()
