"""Record of one URL that was fetched by hand: its requests, robots.txt and links."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final

from agent.pipeline.messages.hosts import LookUp
from agent.pipeline.messages.requests import FetchAnswer

__all__ = ["ANSWERED", "Hop", "Visit", "hop_of"]

ANSWERED: Final = ("answered", "truncated")


@dataclass(slots=True)
class Hop:
    """One request, or the reason against it. Times are milliseconds, sizes bytes with headers.

    outcome: as in the crawl (`messages.requests.Outcome`), or `denied` by robots.txt,
    `no_address`, `url_too_long`, `filtered` for another reason of the filter.
    """

    url: str
    outcome: str
    address: str = ""
    addresses: tuple[str, ...] = ()
    robots: str = ""  # `allow`, `deny`, or why it is not known
    rule: str = ""
    status: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    elapsed_ms: float = 0.0
    lookup_ms: float | None = None  # before it; None: behind a proxy, which looks up itself
    connect_ms: float = 0.0  # of elapsed_ms, until the connection stood; 0: it was open
    first_byte_ms: float = 0.0  # of elapsed_ms, until the answer began
    location: str | None = None
    header: str = ""
    limits: tuple[str, ...] = ()  # of ours, that were hit
    detail: str = ""


@dataclass(slots=True)
class Visit:
    """A URL from its first request to its last. `outcome` is that of the last."""

    url: str
    outcome: str = ""
    status: int = 0
    hops: list[Hop] = field(default_factory=list)
    robots: list[Hop] = field(default_factory=list)
    links: int = 0
    notes: str = ""
    found: tuple[str, ...] = ()  # the links, canonical, in the page's order

    @property
    def is_success(self) -> bool:
        """Return whether a page came, whole or cut, with a status of 2xx."""
        return self.outcome in ANSWERED and 200 <= self.status < 300

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        said = asdict(self)
        del said["found"]  # `--links` prints them
        return said


def hop_of(answer: FetchAnswer, found: LookUp) -> Hop:
    """Return the record of a request. found: the look-up before it."""
    header, cut = "", None
    if answer.capture is not None:
        header = answer.capture.response_header.decode("latin-1")
        cut = answer.capture.truncated
    return Hop(
        answer.request.url,
        answer.outcome,
        address=found.addresses[0],
        addresses=found.addresses,
        status=answer.status,
        request_bytes=answer.request_bytes,
        response_bytes=answer.response_bytes,
        elapsed_ms=round(answer.elapsed_ms, 3),
        lookup_ms=None if found.took_ms is None else round(found.took_ms, 3),
        connect_ms=round(answer.connect_ms, 3),
        first_byte_ms=round(answer.first_byte_ms, 3),
        location=answer.location,
        header=header,
        limits=() if cut is None else (f"cut: {cut}",),
        detail=answer.detail,
    )
