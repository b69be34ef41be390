"""Turns of URLs, and the time that begins them."""

from __future__ import annotations

from shared.frozen import frozen
from shared.wire.orders import OrderKind

__all__ = ["Denied", "Due", "Tick"]


@frozen
class Tick:
    """The time, sent when no message is under way inside the process.

    fetching: whether requests may start now (permit, window, not paused, disk not full).
    crowded: no request starts now, because bodies fill the memory; no address rests for it.
    """

    now_s: float
    epoch_ms: int
    fetching: bool
    crowded: bool = False


@frozen
class Due:
    """A URL whose turn it is. Holds its address's token until its request ends, or a Denied."""

    url: str
    host: str
    address: str
    job: int
    depth: int
    redirects: int
    referer: str | None
    attempt: int  # from 1
    round: int
    kind: OrderKind
    chain: str = ""  # cookies of the redirects that led here
    link_kind: int = 0  # how it was found: `link_kinds`


@frozen
class Denied:
    """Refusal of a URL by robots.txt: the token goes back without an interval.

    rule: the line that forbids; "": the rules were dropped and must be fetched again, so the URL
    keeps its place.
    """

    due: Due
    host: str
    address: str
    rule: str
