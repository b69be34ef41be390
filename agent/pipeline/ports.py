"""Ports of the modules: their only access to network, disk and clock (`ledger.py`: the ledger).

Nothing here waits. A fetch, a look-up or the work on a page is started, and its completion arrives
at a module's input as a message. Durable stores take changes at once and make them durable
together, at the next `commit` of the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from agent.pipeline.messages.hosts import LookUp
from agent.pipeline.messages.jobs import UnitClosed, UnitFinished
from agent.pipeline.messages.pages import Earlier, Fetched, Outside, PageWork, Processed
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest

__all__ = [
    "Clock", "EarlierCaptures", "Fetcher", "PageWorker", "Reports", "Resolver", "RulesStore",
]  # fmt: skip


class Clock(Protocol):
    """Time, for code that must also run in fake time."""

    def monotonic_s(self) -> float:
        """Return seconds that never jump; stands still while the machine sleeps."""

    def boottime_s(self) -> float:
        """Return seconds since boot, sleep included (CLOCK_BOOTTIME): permits count on it."""

    def epoch_ms(self) -> int:
        """Return the wall clock, milliseconds since 1970."""


class Fetcher(Protocol):
    """Sends requests; refuses each without a valid permit (outcome `no_permit`)."""

    @property
    def crowded(self) -> bool:
        """Return whether bodies fill so much memory that no more requests should begin."""

    def start(self, request: FetchRequest, done: Callable[[FetchAnswer], None]) -> None:
        """Begin one request; `done` is called once, later, on the loop's thread."""


class Resolver(Protocol):
    """Names to addresses; forbidden ranges are refused here."""

    def start(self, host: str, done: Callable[[LookUp], None]) -> None:
        """Begin to look a host key's name up; `done` is called once, perhaps at once."""


class PageWorker(Protocol):
    """Decodes, parses, and compresses pages; may live in other processes.

    Pages are done in any order. What stops a worker costs a page its links, never its record.
    """

    @property
    def crowded(self) -> bool:
        """Return whether so many bytes of pages wait that nothing more should be fetched."""

    def start(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        """Begin the work on a page; `done` is called once, perhaps at once."""

    def close(self) -> None:
        """Close; `done` is not called after that."""


class EarlierCaptures(Protocol):
    """Memory of the last whole capture of each URL, to which a later one may refer.

    It may forget, and then a page is fetched and stored whole. It never knows a capture that no
    commit has made durable.
    """

    def look_up(self, host: str, url: str) -> Earlier | None:
        """Return what a URL's last whole capture was, where it is known and not too old."""

    def remember(self, host: str, url: str, earlier: Earlier) -> None:
        """Take a capture that was appended; it is known some time after the next `committed`."""

    def committed(self) -> None:
        """Take note that all that was appended is durable."""


class RulesStore(Protocol):
    """Store of rules of robots.txt that are not in memory; it may forget any of them."""

    def put(self, host: str, packed: bytes) -> None:
        """Keep the rules of a host in place of its earlier ones."""

    def get(self, host: str) -> bytes | None:
        """Return the rules of a host; None: they are not here."""

    def drop(self, host: str) -> None:
        """Forget the rules of a host."""


class Reports(Protocol):
    """Store of reports: the report module fills it, the link delivers from it."""

    def finished(self, unit: UnitFinished) -> None:
        """Report a unit that is done, until the manager has answered."""

    def closed(self, unit: UnitClosed) -> None:
        """Report a unit that left the list and is quiet."""

    def outside(self, urls: Sequence[Outside]) -> None:
        """Report URLs for M2; they are durable with the ledger's next commit."""

    def addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Record where a host answers from here."""

    def requested(self, requests: Sequence[FetchAnswer]) -> None:
        """Count requests that were sent."""

    def kept(self, pages: Sequence[Processed]) -> None:
        """Count pages that lie in a segment."""
