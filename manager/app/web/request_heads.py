"""Bounds on parts of a head that cost much more than they are long.

A head of 64 KB may have 13,000 fields or 30,000 parameters, which each layer goes through again,
and a cookie in quotes whose escapes Python's `http.cookies` undoes in quadratic time (20 s for one
head; CVE-2024-7592). Invariant: what passes costs the server's loop some milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from shared.errors import LimitError

__all__ = ["FIELDS_MOST", "PARAMETERS_MOST", "check_parameters", "plain_cookies"]

FIELDS_MOST: Final = 100
"""Fields of a head. Browsers send 20, proxies add some."""

PARAMETERS_MOST: Final = 1_000
"""Parameters of an address, as the names of agents that are to be compared."""

Headers = Sequence[tuple[bytes, bytes]]


def check_parameters(query: bytes) -> None:
    """Raise LimitError where an address has more parameters than are read."""
    parameters = query.count(b"&") + 1
    if parameters > PARAMETERS_MOST:
        raise LimitError(
            f"the address has {parameters} parameters: the limit is {PARAMETERS_MOST}; send fewer"
        )


def plain_cookies(headers: Headers) -> Headers:
    r"""Return headers without cookies that hold a `\`.

    No cookie may hold one (RFC 6265, 4.1.1), ours hold none, and undoing escapes is dear.
    """
    if not any(name == b"cookie" and b"\\" in value for name, value in headers):
        return headers
    return [
        (name, _without_escapes(value) if name == b"cookie" else value) for name, value in headers
    ]


def _without_escapes(value: bytes) -> bytes:
    return b";".join(pair for pair in value.split(b";") if b"\\" not in pair)
