"""Appends pages to the segment, in the order in which they come.

A full disk is no error of the page: it waits here, `paused` says why, nothing more is fetched,
and each tick tries again. So the crawl resumes by itself when there is room.
Invariant: a page is reported as kept after it was written, and exactly once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.pages import Earlier, Processed
from agent.pipeline.messages.requests import Tick
from agent.pipeline.ports import EarlierCaptures
from shared.archive.errors import DiskFullError
from shared.messages import Message

__all__ = ["Store"]

WRITE_BYTES: Final = 256 * 1024  # of one write; a larger page is written alone


class Store:
    """The module `store`."""

    def __init__(self, ledger: Ledger, earlier: EarlierCaptures | None = None) -> None:
        """ledger: receives the pages. earlier: learns of each whole one; None: no memory."""
        self._ledger = ledger
        self._earlier = earlier
        self._waiting: deque[Processed] = deque()
        self.paused: Message | None = None
        self.bytes_since_commit = 0

    @property
    def waiting(self) -> int:
        """Return how many pages wait for room on the disk."""
        return len(self._waiting)

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "pages": Input(Processed, self.handle_pages),
            "tick": Input(Tick, self.handle_tick),
        }

    def wants_tick(self, _: Tick) -> bool:
        """Return whether anything waits for the time."""
        return bool(self._waiting)

    def handle_pages(self, batch: Sequence[Processed]) -> Iterable[Output]:
        """Write pages, after those that wait for room."""
        self._waiting.extend(batch)
        return self._write()

    def handle_tick(self, _: Sequence[Tick]) -> Iterable[Output]:
        """Write the pages that found no room on the disk."""
        return self._write()

    def _write(self) -> Iterator[Output]:
        while self._waiting:
            pages = self._together()
            try:
                self._ledger.append_captures([(page.encoded, page.outward) for page in pages])
            except DiskFullError as error:
                self.paused = Message("agent.disk_full", why=error.message)
                return
            for page in pages:
                self._waiting.popleft()
                self._note(page)
            for page in pages:
                yield "kept", page
        self.paused = None

    def _together(self) -> list[Processed]:
        """Return the pages that go into the next write: one at least."""
        pages: list[Processed] = []
        size_bytes = 0
        for page in self._waiting:
            size_bytes += len(page.encoded.data)
            if pages and size_bytes > WRITE_BYTES:
                break
            pages.append(page)
        return pages

    def _note(self, page: Processed) -> None:
        self.bytes_since_commit += len(page.encoded.data)
        if self._earlier is not None and page.validators is not None:
            entry = page.encoded.entry
            whole = Earlier(entry.fetched_at_ms, entry.digest, *page.validators)
            self._earlier.remember(page.host, page.url, whole)
