"""All the work on one page: decode, find its links, make its record.

Pure, so that it can run in another process. Nothing that a site sends raises: a body that cannot
be decoded, a page that cannot be parsed, is archived as it came, with a note.

Links are taken from HTML with a status of 2xx; the body of a redirect repeats its Location, that
of an error leads nowhere new. Style sheets, feeds and sitemaps are not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from agent.modules.page.charset import charset_of
from agent.modules.page.content import decode_content
from agent.modules.page.elements import elements
from agent.modules.page.fields import field_values
from agent.modules.page.links import PageLinks, links_of
from agent.modules.page.robots_tags import read_tags
from agent.pipeline.messages import Fetched, Links, Processed
from agent.pipeline.ports import PageWork
from shared.archive.encode import encode_capture
from shared.urls import name_and_port

__all__ = ["NOTE_FIELD", "PageLimits", "work_on"]

NOTE_FIELD: Final = "X-Crawl-Note"
"""Field of a record that says what was noticed: `noindex; canonical: http://...`."""

_HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
_UNKNOWN_TYPES: Final = ("unk", "unknown/unknown", "application/unknown", "*/*")
_LOOKS_LIKE_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<!--.{0,400}?-->|<\?xml[^>]{0,200}>)*"
    rb"<(?:!doctype\s+html|html|head|title|body|script|meta|a|table|h1|div|font|br|p|style)[\s>]",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What one page may cost. Sizes are of the decoded body."""

    agent_token: str  # who we are in `<meta>` and X-Robots-Tag
    max_decoded_bytes: int = 20_000_000
    max_links: int = 50_000


def work_on(page: Fetched, limits: PageLimits, unread: str = "") -> PageWork:
    """Return a page's links and its record, compressed.

    unread: why the page is only archived, which becomes its note; "": it is read.
    """
    notes: list[str] = [unread] if unread else []
    found = PageLinks(())
    if not (page.is_rules or unread):
        found = _read(page, limits, notes)
    if found.tag.noindex:
        notes.append("noindex")
    if found.canonical_url not in (None, page.url):
        notes.append(f"canonical: {found.canonical_url}")
    if found.cut:
        notes.append(f"links cut at {limits.max_links}")
    note = "; ".join(notes)
    capture = page.capture
    if note:
        capture = replace(capture, extra={**capture.extra, NOTE_FIELD: note})
    links = Links(found.urls, referer=page.url, from_job=page.job, depth=page.depth + 1)
    here = name_and_port(page.host)
    processed = Processed(
        encoded=encode_capture(capture),
        url=page.url,
        host=page.host,
        address=page.address,
        job=page.job,
        is_rules=page.is_rules,
        outward=tuple(url for url in found.urls if name_and_port(url) != here),
        note=note,
    )
    return PageWork(processed, links)


def _read(page: Fetched, limits: PageLimits, notes: list[str]) -> PageLinks:
    header = page.capture.response_header
    tags = field_values(header, "X-Robots-Tag")
    if not 200 <= (page.capture.status or 0) <= 299:
        return PageLinks((), tag=read_tags((), tags, limits.agent_token))
    encodings = ",".join(field_values(header, "Content-Encoding"))
    decoded = decode_content(page.capture.body, encodings, limits.max_decoded_bytes)
    if decoded.note:
        notes.append(decoded.note)
    media_type = page.capture.media_type
    is_html = media_type in _HTML_TYPES or (
        media_type in _UNKNOWN_TYPES and _LOOKS_LIKE_HTML.match(decoded.body[:1024]) is not None
    )
    if not is_html:
        return PageLinks((), tag=read_tags((), tags, limits.agent_token))
    codec = charset_of(decoded.body, next(iter(field_values(header, "Content-Type")), ""))
    found, problem = elements(decoded.body.decode(codec, "replace"))
    if problem:
        notes.append(problem)
    return links_of(
        found,
        header,
        page.url,
        codec,
        agent_token=limits.agent_token,
        max_links=limits.max_links,
    )
