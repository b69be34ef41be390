"""Pages: fetched, and processed for the segment."""

from __future__ import annotations

from agent.pipeline.messages.links import Links
from shared.archive.capture import Capture
from shared.archive.encode import EncodedCapture
from shared.frozen import frozen

__all__ = ["Earlier", "Fetched", "PageWork", "Processed"]


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
