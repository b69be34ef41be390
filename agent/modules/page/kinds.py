"""Decides what a body is to the crawl: a page, a list of links in one of four forms, or neither.

    html   a page, in HTML or XHTML
    xml    a feed (RSS, Atom, RDF) or a sitemap
    json   a JSON feed
    text   a sitemap of bare URLs, one a line
    gzip   one of these, packed: what is inside decides
    ""     nothing that holds links for a crawler

The media type is asked first, but servers send feeds as HTML, sitemaps as plain text, and packed
files as anything; so the first bytes have the last word where the two disagree in a way that
browsers know too. A packed file whose packing was taken off as a Content-Encoding is what it is
then, and a list of links in a file of no type is one.
Source: WHATWG MIME Sniffing, 7 (feed or HTML) and 8; sitemaps.org; jsonfeed.org.
"""

from __future__ import annotations

import re
from typing import Final, Literal

__all__ = ["HEAD_BYTES", "Kind", "is_data", "kind_of", "may_hold_links"]

Kind = Literal["html", "xml", "json", "text", "gzip", ""]

HEAD_BYTES: Final = 2048
"""Of a body are looked at."""

_HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
_UNKNOWN_TYPES: Final = ("unk", "unknown/unknown", "application/unknown", "*/*")
# Of packed files, and of those that a server knows no type of: `binary` is what S3 says then.
_FILE_TYPES: Final = (
    *("application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped"),
    *("application/octet-stream", "binary/octet-stream"),
)
_PACKED_TYPES: Final = (*_FILE_TYPES, "application/xml", "text/xml", "text/plain", "text/html")
_GZIP: Final = b"\x1f\x8b"
_JSON_TYPES: Final = ("application/feed+json", "application/json")

# Each step of these has one way to match, so that no body makes them try all ways in turn.
_COMMENT: Final = rb"<!--[^-]*(?:-[^-]+|--+[^->][^-]*)*--+>"
_LOOKS_LIKE_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|" + _COMMENT + rb"|<\?xml[^>]*>)*"
    rb"<(?:!doctype\s+html|html|head|title|body|script|meta|a|table|h1|div|font|br|p|style)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_LOOKS_LIKE_LIST: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|" + _COMMENT + rb"|<\?[^?]*(?:\?+[^?>][^?]*)*\?+>|<!doctype[^>\[]*>)*"
    rb"<(?:[\w.-]{1,40}:)?(?:rss|feed|rdf|urlset|sitemapindex)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_LOOKS_LIKE_URLS: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*https?://[^\s<>\"]+\s*(?:[\r\n]|\Z)")
_JSON_FEED: Final = re.compile(rb"https?://(?:www\.)?jsonfeed\.org/version/")
_WIDE: Final = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def may_hold_links(media_type: str) -> bool:
    """Tell whether a body of a media type is worth a look: images and scripts are not."""
    return (
        media_type in _HTML_TYPES
        or media_type in _UNKNOWN_TYPES
        or media_type in _PACKED_TYPES
        or media_type in _JSON_TYPES
        or media_type.endswith(("/xml", "+xml"))
    )


def is_data(media_type: str, body: bytes) -> bool:
    """Tell whether a file of no type, sent without an encoding, is neither a list nor packed."""
    if media_type not in _FILE_TYPES or body.startswith(_GZIP):
        return False
    return not kind_of(media_type, body)


def kind_of(media_type: str, body: bytes) -> Kind:
    """Return what a decoded body is. media_type: as `Capture.media_type` says it."""
    if body.startswith(_GZIP) and may_hold_links(media_type):
        return "gzip"  # whatever the path ends in: what is inside decides
    if media_type in _HTML_TYPES:
        # Only after this look: a body like a feed is shown as one by browsers too.
        is_list = body[:1] in b"<\xef \r\n" and _LOOKS_LIKE_LIST.match(body, 0, HEAD_BYTES)
        return "xml" if is_list else "html"
    head = body[:HEAD_BYTES]
    if media_type in _JSON_TYPES:
        return "json" if _JSON_FEED.search(head) else ""
    unknown = media_type in _UNKNOWN_TYPES
    plain = media_type == "text/plain" or media_type in _FILE_TYPES
    if plain or unknown or media_type.endswith(("/xml", "+xml")):
        return _by_content(head, unknown=unknown, plain=plain)
    return ""


def _by_content(head: bytes, *, unknown: bool, plain: bool) -> Kind:
    for mark, codec in _WIDE:
        if head.startswith(mark):
            head = head[2:].decode(codec, "replace").encode()
    if _LOOKS_LIKE_LIST.match(head):
        return "xml"
    if plain:
        return "text" if _LOOKS_LIKE_URLS.match(head) else ""
    # XHTML comes as `application/xml` too; of other XML no link is known.
    looks_like_page = _LOOKS_LIKE_HTML.match(head[:1024])
    return (
        "html" if looks_like_page else ("text" if unknown and _LOOKS_LIKE_URLS.match(head) else "")
    )
