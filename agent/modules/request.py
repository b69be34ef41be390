"""Properties of an answer that both fetching modules need."""

from __future__ import annotations

from typing import Final

from agent.pipeline.messages.requests import FetchAnswer
from shared.errors import UrlError
from shared.urls import crawlable

__all__ = ["REDIRECTS", "redirect_target"]

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


def redirect_target(answer: FetchAnswer) -> str | None:
    """Return where a redirect leads, canonical; None: it is none, or leads nowhere."""
    if answer.status not in REDIRECTS or answer.location is None:
        return None
    try:
        return crawlable(answer.location, answer.request.url)
    except UrlError:
        return None
