"""What the suite needs of a ledger beside its port: a disk that survives it, and a look at it."""

from __future__ import annotations

from typing import Protocol

from agent.pipeline.ledger import Ledger
from tests.agent.fakes import FakeLedger


class LedgerCase(Protocol):
    """One installation's ledger over several processes."""

    def start(self) -> Ledger:
        """Open the ledger, as a process does that follows a kill -9 of the one before."""
        ...

    def captures(self) -> list[str]:
        """Return the URLs of the captures on the disk, in order; called after `start`."""
        ...

    def log_urls(self) -> list[str]:
        """Return the URLs of the crawl log on the disk, in order; called after `start`."""
        ...

    def fill_disk(self, full: bool) -> None:
        """Let every append and commit of the ledger that is open fail for want of room, or not."""
        ...

    def end(self) -> None:
        """Close whatever is open."""
        ...


class FakeCase:
    """The ledger in memory."""

    def __init__(self) -> None:
        self._ledger = FakeLedger()

    def start(self) -> Ledger:
        self._ledger = self._ledger.after_crash()
        return self._ledger

    def captures(self) -> list[str]:
        return self._ledger.durable_captures

    def log_urls(self) -> list[str]:
        return [one.request.url for one in self._ledger.after_crash().log]

    def fill_disk(self, full: bool) -> None:
        self._ledger.full = full

    def end(self) -> None:
        pass
