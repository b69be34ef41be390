"""Public suffix check: could anybody register this host name?

Links hold much that only looks like a host (`http://localhost/`, `http://www.example/`, templates
that were never filled in); the manager need not hear of it. IP literals always pass: whether an
address may be crawled is the resolver's question.
Source: seed 000, 5.2.6; the Public Suffix List, as the library ships it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from publicsuffixlist import PublicSuffixList

from shared.urls import split_host

__all__ = ["is_public_suffix", "is_registrable"]

_IPV4: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+")


def is_registrable(host: str) -> bool:
    """Return whether a host key is an IP literal, or a name below (or equal to) a public suffix."""
    name = split_host(host)[1]
    if name.startswith("[") or _IPV4.fullmatch(name):
        return True
    if ".." in name or name.startswith(".") or name.endswith("."):
        return False  # an empty label
    return _list().publicsuffix(name) is not None


def is_public_suffix(name: str) -> bool:
    """Return whether anybody may register names below a domain: no host sets cookies for it."""
    return "." not in name or _list().publicsuffix(name) == name


@cache
def _list() -> Any:
    # Without unknown suffixes: the list's rule `*` would let every name pass.
    return PublicSuffixList(accept_unknown=False)
