"""Limits for one page."""

from __future__ import annotations

from shared.frozen import frozen

__all__ = ["PageLimits"]


@frozen
class PageLimits:
    """Sizes are of the decoded body."""

    agent_token: str  # who we are in `<meta>` and X-Robots-Tag
    max_decoded_bytes: int = 20_000_000
    max_links: int = 50_000
    max_sitemaps: int = 100  # that one index may name; 0: none is read
    document_cpu_s: float = 1.0  # for reading one PDF
    off: tuple[int, ...] = ()  # kinds of links that are none
