"""Ports to the network: requests and look-ups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agent.pipeline.messages.hosts import LookUp
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest

__all__ = ["Fetcher", "Resolver"]


class Fetcher(Protocol):
    """Sends requests; refuses each without a valid permit (outcome `no_permit`)."""

    @property
    def crowded(self) -> bool:
        """Return whether bodies fill so much memory that no more requests should begin."""
        ...

    def start(self, request: FetchRequest, done: Callable[[FetchAnswer], None]) -> None:
        """Begin one request; `done` is called once, later, on the loop's thread."""
        ...


class Resolver(Protocol):
    """Names to addresses; forbidden ranges are refused here."""

    def start(self, host: str, done: Callable[[LookUp], None]) -> None:
        """Begin to look a host key's name up; `done` is called once, perhaps at once."""
        ...
