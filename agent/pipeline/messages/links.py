"""Links of pages on their way into the queues of jobs."""

from __future__ import annotations

from typing import Final

from shared.frozen import frozen

__all__ = ["INDEXED_DEPTH", "SITEMAP_DEPTH", "Candidate", "Links", "Outside"]

SITEMAP_DEPTH: Final = -2
"""Depth of the sitemaps that a robots.txt names: what they list, also by way of an index, lies as
near as the top page, and nothing of it is deeper than 0."""

INDEXED_DEPTH: Final = SITEMAP_DEPTH + 1
"""Depth of the sitemaps that such an index names."""


@frozen
class Links:
    """Links of one page (or redirect, or the list), before they are filtered.

    One message a page and not one a link: a page has dozens, and most are known already.
    """

    urls: tuple[str, ...]  # canonical
    referer: str | None
    from_job: int  # 0: from the list itself
    depth: int  # of the page they stand on, plus one; a list's own pages have 0, sitemaps below it
    redirects: int = 0  # hops that led here in a row
    content: str = ""  # digest of the page; "": of none
    chain: str = ""  # cookies of the redirects that led here (`redirect_chain`)
    again: bool = False  # known in this chain, and worth a request with other cookies
    kinds: bytes = b""  # `link_kinds`, one for each URL; empty: all of kind 0
    is_embedded: bool = False  # the page itself was loaded for another one


@frozen
class Candidate:
    """A URL inside a job that passed the filters."""

    url: str
    host: str
    job: int
    depth: int
    redirects: int
    referer: str | None
    chain: str = ""
    again: bool = False
    link_kind: int = 0  # how it was found: `link_kinds`


@frozen
class Outside:
    """A URL that others fetch: of a new host, or of a unit that others own."""

    url: str
    referer: str | None
