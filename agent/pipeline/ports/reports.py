"""Port to the reports for the manager."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agent.pipeline.messages.jobs import UnitClosed, UnitFinished
from agent.pipeline.messages.links import Outside
from agent.pipeline.messages.pages import Processed
from agent.pipeline.messages.requests import FetchAnswer

__all__ = ["Reports"]


class Reports(Protocol):
    """Store of reports: the report module fills it, the link delivers from it."""

    def finished(self, unit: UnitFinished) -> None:
        """Report a unit that is done, until the manager has answered."""
        ...

    def closed(self, unit: UnitClosed) -> None:
        """Report a unit that left the list and is quiet."""
        ...

    def outside(self, urls: Sequence[Outside]) -> None:
        """Report URLs for M2; they are durable with the ledger's next commit."""
        ...

    def addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Record where a host answers from here."""
        ...

    def requested(self, requests: Sequence[FetchAnswer]) -> None:
        """Count requests that were sent."""
        ...

    def kept(self, pages: Sequence[Processed]) -> None:
        """Count pages that lie in a segment."""
        ...
