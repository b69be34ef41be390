"""All the work on one page: decode, find its links, make its record.

Pure, so that it can run in another process. Nothing that a site sends raises: a body that cannot
be decoded, a page that cannot be parsed, is archived as it came, with a note.

Links are taken from HTML, feeds, sitemaps and other documents (`body_kinds.py`) with a status of
2xx, or of 3xx that leads nowhere: 300, whose body is a list of choices, or a redirect without
Location; the body of any other redirect repeats its Location, that of an error leads nowhere new.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from agent.modules.limits import PageLimits
from agent.modules.page.body_kinds import (
    HEAD_BYTES,
    DocumentKind,
    Kind,
    is_document,
    kind_of,
    may_hold_links,
)
from agent.modules.page.documents.documents import document_references
from agent.modules.page.documents.link_lists import MAX_LIST_BYTES, list_of
from agent.modules.page.documents.xml_documents import stylesheet_of_xml
from agent.modules.page.documents.xml_lists import Listed
from agent.modules.page.encodings.charset import charset_of
from agent.modules.page.found_references import references_within
from agent.modules.page.header_fields import field_values, lowered
from agent.modules.page.header_links import leads_on_by_header
from agent.modules.page.html.markup import Markup, links_of_markup
from agent.modules.page.html.robots_tags import SILENT, RobotsTag, read_tags
from agent.modules.page.language import language_of
from agent.modules.page.links import PageLinks, links_of, links_of_document
from agent.modules.page.validators import settled, validators_of
from agent.modules.request import REDIRECTS
from agent.pipeline.link_kinds import EMBEDDED, LinkKind
from agent.pipeline.messages.pages import INDEXED_DEPTH, Fetched, PageWork, page_work
from shared.archive.content_coding import decode_content
from shared.archive.encode import encode_capture
from shared.archive.http_block import content_type_of, header_value
from shared.frozen import frozen
from shared.urls import name_and_port

__all__ = ["NOTE_FIELD", "PageRead", "finished", "read", "work_on"]

NOTHING: Final = PageLinks(())

_NOT_MODIFIED: Final = 304
_CHARSET_RULE: Final = re.compile(rb'@charset "([A-Za-z0-9_:.-]{1,40})";')

_CLOSED: Final = re.compile(
    rb"<(title|script|style|textarea|iframe|noscript|object|a)\b([^<>]{0,2000})/>"
)
_STYLE: Final = LinkKind.STYLE | EMBEDDED

NOTE_FIELD: Final = "X-Crawl-Note"
"""Field of a record with notes on the page: `noindex; canonical: http://...`."""


@frozen
class PageRead:
    """A page that has been read, for `finished`."""

    page: Fetched
    found: PageLinks
    note: str


def work_on(page: Fetched, limits: PageLimits, unread: str = "") -> PageWork:
    """Return a page's links and its record, compressed.

    unread: why the page is only archived, which becomes its note; "": it is read.
    """
    return finished(read(page, limits, unread))


def read(page: Fetched, limits: PageLimits, unread: str = "") -> PageRead:
    """Return what a page says: the first half of `work_on`, and the one that a page can stop.

    A caller with many pages reads some and then makes their records, in turns: that takes a
    tenth less time than page by page (docs/adr/0161).
    """
    notes: list[str] = [unread] if unread else []
    found = NOTHING if page.is_rules or unread else _read(page, limits, notes)
    if found.tag.noindex:
        notes.append("noindex")
    if found.canonical_url not in (None, page.url):
        notes.append(f"canonical: {found.canonical_url}")
    if found.cut:
        notes.append(f"links cut at {len(found.urls)}")
    return PageRead(page, found, "; ".join(notes))


def finished(done: PageRead) -> PageWork:
    """Return the work on a page that was read: the second half of `work_on`."""
    page, urls, note = done.page, done.found.urls, done.note
    capture = settled(page.capture)
    if note:
        capture = replace(capture, extra={**capture.extra, NOTE_FIELD: note})
    validators = None if page.is_rules else validators_of(capture, leads_on=bool(urls or note))
    encoded, kinds = encode_capture(capture), done.found.kinds
    language = done.found.language
    return page_work(page, encoded, urls, kinds, _outward(urls, page), note, validators, language)


def _outward(urls: tuple[str, ...], page: Fetched) -> tuple[str, ...]:
    """Return the links that lead to another name or port."""
    near = page.url[: page.url.index("/", 8) + 1]
    far = [url for url in urls if not url.startswith(near)]
    if not far:
        return ()
    here = name_and_port(page.host)
    return tuple(url for url in far if name_and_port(url) != here)


def _read(page: Fetched, limits: PageLimits, notes: list[str]) -> PageLinks:
    header = page.capture.response_header
    small = lowered(header)
    tags = field_values(header, "X-Robots-Tag") if b"x-robots-tag" in small else ()
    status = page.capture.status or 0
    if not (200 <= status <= 299 or _is_choice(status, header)):
        return PageLinks((), tag=read_tags((), tags, limits.agent_token))
    media_type = page.capture.media_type
    if not may_hold_links(media_type):
        return _of_header(page, read_tags((), tags, limits.agent_token), limits)
    encodings = ""
    if b"content-encoding" in small:
        encodings = ",".join(field_values(header, "Content-Encoding"))
    decoded = decode_content(page.capture.body, encodings, limits.max_decoded_bytes)
    content_type = content_type_of(header).decode("latin-1")
    kind = kind_of(media_type, decoded.body)
    if kind in ("xml", "text", "gzip") and len(decoded.body) >= limits.max_decoded_bytes:
        decoded = decode_content(page.capture.body, encodings, MAX_LIST_BYTES)
    if decoded.note:
        notes.append(decoded.note)
    if decoded.unknown:
        notes.append(f"unknown Content-Encoding {decoded.unknown}")
    if decoded.absent:
        notes.append(f"decode-error: the body is not {decoded.absent}; read without decoding")
    if kind != "html":
        tag = read_tags((), tags, limits.agent_token)
        if not kind or tag.nofollow:
            return _of_header(page, tag, limits)
        if is_document(kind):
            return replace(_of_document(kind, decoded.body, page, limits, notes), tag=tag)
        listed = list_of(
            *(kind, decoded.body, content_type, page.url, limits.max_links),
            within=lambda text: (one for one, _ in references_within(text, limits.agent_token)),
        )
        return replace(_of_list(listed, kind, decoded.body, page, limits, notes), tag=tag)
    body = decoded.body
    if media_type.endswith("xml"):  # in HTML the rest of the page would be the text of these
        body = _CLOSED.sub(rb"<\1\2></\1>", body)
    codec = charset_of(body, content_type, page.url)
    found, problem = links_of_markup(body, codec, limits.agent_token)
    if problem:
        notes.append(problem)
    if body.startswith(b"<?xml"):
        found = _styled(found, _stylesheets(body, page.url, limits))
    links = links_of(
        found,
        header,
        page.url,
        codec,
        agent_token=limits.agent_token,
        max_links=limits.max_links,
        off=limits.off,
    )
    if not page.asks_language:
        return links
    return replace(links, language=language_of(body, codec, header))


def _of_header(page: Fetched, tag: RobotsTag, limits: PageLimits) -> PageLinks:
    """Return the links of an answer that leads on by its header block alone, as of an image."""
    header = page.capture.response_header
    if tag.nofollow or not leads_on_by_header(header):
        return PageLinks((), tag=tag)
    found = links_of_document((), header, page.url, "utf-8", limits.max_links, limits.off)
    return replace(found, tag=tag)


def _styled(found: Markup, styles: tuple[str, ...]) -> Markup:
    """Return what leads on with the style sheets before it."""
    if not styles:
        return found
    kinds = bytes((_STYLE,)) * len(styles) + found.kinds
    return Markup((*styles, *found.items), kinds, found.complex_elements)


def _is_choice(status: int, header: bytes) -> bool:
    """Return whether an answer of 3xx is shown as a page: no redirect, or one without a target.

    Source: RFC 9110, 15.4.1 (300); Fetch standard, 2.2.3 (redirect status), 2.2.6 (location URL).
    """
    if not 300 <= status <= 399 or status == _NOT_MODIFIED:
        return False
    return status not in REDIRECTS or not header_value(header, "Location")


def _of_document(
    kind: DocumentKind, body: bytes, page: Fetched, limits: PageLimits, notes: list[str]
) -> PageLinks:
    header = page.capture.response_header
    codec = "utf-8"
    if kind not in ("pdf", "office", "manifest", "ld", "speculation"):
        types = field_values(header, "Content-Type")
        codec = charset_of(_with_charset(body), types[0] if types else "", page.url)
    references, note = document_references(kind, body, codec, limits, page.url)
    if note:
        notes.append(note)
    return links_of_document(references, header, page.url, codec, limits.max_links, limits.off)


def _with_charset(body: bytes) -> bytes:
    """Return a body in which the `@charset` of a style sheet stands as a page's encoding does.

    Source: CSS Syntax 3, 3.2.
    """
    said = _CHARSET_RULE.match(body)
    return body if said is None else b"<meta charset='" + said[1] + b"'>" + body


def _of_list(
    listed: Listed, kind: Kind, body: bytes, page: Fetched, limits: PageLimits, notes: list[str]
) -> PageLinks:
    if listed.note:
        notes.append(listed.note)
    urls = tuple(listed.urls)
    shown_by = _stylesheets(body, page.url, limits) if kind == "xml" and not listed.index else ()
    is_sitemap = kind in ("text", "gzip") or listed.index or b"<urlset" in body[:HEAD_BYTES]
    link_kind = LinkKind.SITEMAP if is_sitemap else LinkKind.FEED
    if link_kind in limits.off:
        return PageLinks(())
    if listed.index:
        if page.depth == INDEXED_DEPTH:
            # sitemaps.org: an index names no index; one that did could continue for ever.
            notes.append("sitemap index within an index")
            return PageLinks(())
        cut = len(urls) > limits.max_sitemaps
        urls = urls[: limits.max_sitemaps]
    else:
        cut = listed.cut
    more = dict.fromkeys((url for url in shown_by if url not in listed.urls), int(_STYLE))
    named = _of_header(page, SILENT, limits) if not listed.index else NOTHING
    for url, its_kind in zip(named.urls, named.kinds, strict=True):
        if url not in listed.urls:
            more.setdefault(url, its_kind)
    kinds = bytes((link_kind,)) * len(urls) + bytes(more.values())
    return PageLinks((*urls, *more), kinds, cut=cut)


def _stylesheets(body: bytes, url: str, limits: PageLimits) -> tuple[str, ...]:
    """Return the style sheets by which a browser shows a document in XML."""
    if b"<?xml-stylesheet" not in body[:HEAD_BYTES]:
        return ()
    text = body[:HEAD_BYTES].decode("utf-8", "replace")
    return links_of_document(stylesheet_of_xml(text), b"", url, "utf-8", 9, limits.off).urls
