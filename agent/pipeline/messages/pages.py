"""Pages, fetched and processed for the segment, and their links on the way into queues of jobs."""

from __future__ import annotations

import re
from typing import Final

from agent.pipeline.link_kinds import EMBEDDED
from shared.archive.capture import Capture
from shared.archive.encode import EncodedCapture
from shared.frozen import frozen

__all__ = [
    "ETAG",
    "INDEXED_DEPTH",
    "MODIFIED",
    "RULES_DEPTH",
    "SITEMAP_DEPTH",
    "Candidate",
    "Earlier",
    "Fetched",
    "Links",
    "Outside",
    "PageWork",
    "Processed",
    "page_work",
]

# The forms of the validators that a later request may carry: they are sent back as they came, and
# a text in one of these forms is one value of one field, whatever it says.
# Source: RFC 9110, 8.8.2 (dates, as 5.6.7 prefers them) and 8.8.3 (entity tags).
ETAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')
MODIFIED: Final = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT")

SITEMAP_DEPTH: Final = -2
"""Depth of the sitemaps that a robots.txt names: what they list, also by way of an index, lies as
near as the top page, and nothing of it is deeper than 0."""

INDEXED_DEPTH: Final = SITEMAP_DEPTH + 1
"""Depth of the sitemaps that such an index names."""

RULES_DEPTH: Final = SITEMAP_DEPTH - 1
"""Depth of a queue's first entry where a crawl begins with all pages of its probe behind it. It is
never fetched: its turn asks for the rules of its host, and for what they lead to."""


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
    language: str = ""  # of the page: a code, or `und`; "": not asked for, or no page


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


@frozen
class Earlier:
    """The last whole capture of a URL, that a later one may refer to.

    digest: `sha256:` and hexadecimal. etag, modified: header fields as the server sent them, to
    ask by; "" where there are none, or where the body must come for its links.
    """

    fetched_at_ms: int
    digest: str
    etag: str = ""
    modified: str = ""


@frozen
class Fetched:
    """An answer with a header, whole or truncated. `capture.body` is as sent by the server.

    A capture with a body *and* a revisit is a question: is the body still what it was?
    """

    capture: Capture
    url: str
    host: str
    address: str
    job: int
    depth: int
    redirects: int
    is_rules: bool = False  # robots.txt: archived, not parsed for links
    link_kind: int = 0  # how it was found: `link_kinds`
    asks_language: bool = False  # a rule of the scope needs the page's language


@frozen
class Processed:
    """A page after decoding, parsing and compressing: its links travel separately."""

    encoded: EncodedCapture
    url: str
    host: str
    address: str
    job: int
    is_rules: bool
    outward: tuple[str, ...] = ()  # canonical links to other hosts, for `extserver.list`
    note: str = ""  # `noindex`, `parse-error: ...`, `decode-error: ...`
    validators: tuple[str, str] | None = None  # ETag, Last-Modified; None: no capture to refer to


@frozen
class PageWork:
    """Result of a fetched page: its links, each once, and its record, compressed."""

    processed: Processed
    links: Links  # redirects 0, depth that of the page plus one


def page_work(
    page: Fetched,
    encoded: EncodedCapture,
    urls: tuple[str, ...],
    kinds: bytes,
    outward: tuple[str, ...],
    note: str,
    validators: tuple[str, str] | None,
    language: str = "",
) -> PageWork:
    """Return the result of a page: its record, and its links with their kinds."""
    # By place: names would cost a dictionary for each.
    processed = Processed(
        encoded,
        page.url,
        page.host,
        page.address,
        page.job,
        page.is_rules,
        outward,
        note,
        validators,
    )
    digest, is_embedded = encoded.payload_digest, bool(page.link_kind & EMBEDDED)
    links = Links(
        urls,
        page.url,
        page.job,
        page.depth + 1,
        0,
        digest,
        kinds=kinds,
        is_embedded=is_embedded,
        language=language,
    )
    return PageWork(processed, links)
