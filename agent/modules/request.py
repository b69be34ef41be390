"""Base of the two modules that send requests, and targets of redirects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.modules.limits import CrawlLimits
from agent.pipeline.messages.requests import FetchAnswer
from agent.pipeline.ports import Fetcher
from shared.errors import UrlError
from shared.urls import crawlable

__all__ = ["REDIRECTS", "RequestModule", "redirect_target"]

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class RequestModule:
    """A module that sends requests."""

    def __init__(
        self, fetcher: Fetcher, limits: CrawlLimits, done: Callable[[FetchAnswer], None]
    ) -> None:
        """Take the port of the network.

        done: where an answer goes, to arrive at the input `answer`.
        """
        self._fetcher = fetcher
        self._limits = limits
        self._done = done
        self.in_flight = 0

    def retune(self, limits: CrawlLimits) -> None:
        """Go by other limits, as the frontier does: both judge which attempt is the last."""
        self._limits = limits


def redirect_target(answer: FetchAnswer) -> str | None:
    """Return where a redirect leads, canonical; None: it is none, or leads nowhere."""
    if answer.status not in REDIRECTS or answer.location is None:
        return None
    try:
        return crawlable(answer.location, answer.request.url)
    except UrlError:
        return None
