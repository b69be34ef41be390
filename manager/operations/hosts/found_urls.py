"""URLs that name hosts or pages of them: what a line of a list says, in canonical form.

It imports no database: processes that read bodies use it, too.
"""

from __future__ import annotations

from typing import Final

from shared.errors import UrlError
from shared.frozen import frozen
from shared.units import explicit
from shared.urls import crawlable, host_of

__all__ = ["URL_LIMIT", "FoundUrl", "parse_found"]

URL_LIMIT: Final = 2_083  # what browsers took for long; the agents' limit too


@frozen
class FoundUrl:
    """One line: the canonical URL with its port, its host, and who links to it."""

    url: str
    host: str
    referer: str | None


def parse_found(text: str, referer: str | None) -> FoundUrl:
    """Return what a URL and a referer of a line name. Raises UrlError."""
    url = explicit(crawlable(text))
    if len(url) > URL_LIMIT:
        raise UrlError("hosts.url_too_long", characters=len(url), limit=URL_LIMIT)
    return FoundUrl(url, host_of(url), _kept(referer))


def _kept(referer: str | None) -> str | None:
    """Return a referer as a database keeps it: it may be any bytes, and is only there to be read.

    Without one that is too long.
    """
    if not referer or len(referer) > URL_LIMIT:
        return None
    whole = referer.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return whole.replace("\0", "\ufffd")
