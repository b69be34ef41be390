"""Turns of URLs and the time that begins them, requests and their answers."""

from __future__ import annotations

from typing import Literal

from agent.pipeline.messages.pages import Earlier
from agent.pipeline.messages.robots import RulesDue
from shared.archive.capture import Capture
from shared.frozen import frozen
from shared.wire.orders import OrderKind

__all__ = ["Denied", "Due", "FetchAnswer", "FetchRequest", "Outcome", "Tick"]

Outcome = Literal[
    "answered",  # a whole HTTP answer, whatever its status
    "truncated",  # an answer, cut by a limit of ours or by the server; the received part is kept
    "refused",  # no server listens there
    "timeout",  # no first byte, or the total deadline
    "disconnected",  # the connection broke before the header was whole
    "retry",  # not answered because of the connection or the way of asking: once more, in its turn
    "malformed",  # the answer is no HTTP, or none that can be read
    "tls",  # certificate or handshake
    "forbidden_address",  # the name leads into a range that must not be crawled
    "no_permit",  # not sent: the permit was over; goes back to the frontier untouched
    "stopped",  # not finished: the agent is ending; goes back to the frontier untouched
    # Of a unit whose host has no address (`HostFailure`): no request was sent.
    "no_such_name",
    "no_address",
    "not_a_name",
    "name_timeout",
    "name_refused",
    "name_server_failed",
    "name_server_away",
    "name_unanswered",
]


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
    clock: str = ""  # whose token it holds (`shared_addresses`)


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


@frozen
class FetchRequest:
    """One GET. The address was checked and is pinned; "" where a proxy resolves.

    due: the owner of the turn; None: no turn, a request by hand.
    """

    url: str
    address: str
    max_body_bytes: int
    rules: bool = False
    earlier: Earlier | None = None  # ask by its validators, where it has any
    due: Due | RulesDue | None = None
    cookies: str = ""  # the Cookie field, of the redirects that led here


@frozen
class FetchAnswer:
    """Result of a FetchRequest; `capture` is None where no header came.

    It is also the message that gives the token of its turn's address back, and one line of the
    crawl log. elapsed_ms: without the pauses that limits of our own made.
    """

    request: FetchRequest
    outcome: Outcome
    capture: Capture | None = None
    status: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    elapsed_ms: float = 0.0
    started_epoch_ms: int = 0
    ended_s: float = 0.0
    kept_alive: bool = False
    location: str | None = None  # of a redirect, as sent
    retry_after_s: float | None = None
    detail: str = ""
    connect_ms: float = 0.0  # from the start until the connection stood, TLS too; 0: was open
    first_byte_ms: float = 0.0  # from the start until the answer began

    @property
    def due(self) -> Due | RulesDue:
        """Return whose turn it was; of a request that was a turn."""
        due = self.request.due
        assert due is not None
        return due

    @property
    def address(self) -> str:
        """Return the address whose token it gives back."""
        return self.due.address

    @property
    def is_free_retry(self) -> bool:
        """Return whether it says nothing about the host: `retry`, at the first attempt."""
        if self.outcome != "retry":
            return False
        due = self.request.due
        return due is None or due.attempt == 1

    @property
    def was_sent(self) -> bool:
        """Return whether a request left this machine."""
        if self.outcome in ("no_permit", "forbidden_address"):
            return False
        return self.outcome != "stopped" or self.request_bytes > 0

    @property
    def header(self) -> bytes:
        """Return the header of the answer; empty where none came."""
        return b"" if self.capture is None else self.capture.response_header
