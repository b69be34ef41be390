"""Ports to the work on pages and to the captures before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agent.pipeline.messages.pages import Earlier, Fetched, PageWork

__all__ = ["EarlierCaptures", "PageWorker"]


class PageWorker(Protocol):
    """Decodes, parses, and compresses pages; may live in other processes.

    Pages are done in any order. What stops a worker costs a page its links, never its record.
    """

    @property
    def crowded(self) -> bool:
        """Return whether so many bytes of pages wait that nothing more should be fetched."""
        ...

    def start(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        """Begin the work on a page; `done` is called once, perhaps at once."""
        ...

    def close(self) -> None:
        """Close; `done` is not called after that."""
        ...


class EarlierCaptures(Protocol):
    """Memory of the last whole capture of each URL, to which a later one may refer.

    It may forget, and then a page is fetched and stored whole. It never knows a capture that no
    commit has made durable.
    """

    def look_up(self, host: str, url: str) -> Earlier | None:
        """Return what a URL's last whole capture was, where it is known and not too old."""
        ...

    def remember(self, host: str, url: str, earlier: Earlier) -> None:
        """Take a capture that was appended; it is known some time after the next `committed`."""
        ...

    def committed(self) -> None:
        """Take note that all that was appended is durable."""
        ...
