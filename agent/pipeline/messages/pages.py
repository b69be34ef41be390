"""Pages: fetched, and processed for the segment."""

from __future__ import annotations

import re
from typing import Final

from agent.pipeline.link_kinds import EMBEDDED
from agent.pipeline.messages.links import Links
from shared.archive.capture import Capture
from shared.archive.encode import EncodedCapture
from shared.frozen import frozen

__all__ = ["ETAG", "MODIFIED", "Earlier", "Fetched", "PageWork", "Processed", "page_work"]

# The forms of the validators that a later request may carry: they are sent back as they came, and
# a text in one of these forms is one value of one field, whatever it says.
# Source: RFC 9110, 8.8.2 (dates, as 5.6.7 prefers them) and 8.8.3 (entity tags).
ETAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')
MODIFIED: Final = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT")


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
        urls, page.url, page.job, page.depth + 1, 0, digest, kinds=kinds, is_embedded=is_embedded
    )
    return PageWork(processed, links)
