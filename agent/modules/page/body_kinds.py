"""Decides what a body is to the crawl: a page, a list of links, another document, or none of them.

    html   a page, in HTML or XHTML
    xml    a feed (RSS, Atom, RDF) or a sitemap
    json   a JSON feed
    text   a sitemap of bare URLs, one a line
    gzip   one of these, packed: what is inside decides
    css js svg manifest ld speculation pdf office xmldoc playlist appcache
           documents that lead on: `documents.py`
    ""     nothing that holds links for a crawler

The media type is asked first, but servers send feeds as HTML, sitemaps as plain text, and packed
files as anything; so the first bytes have the last word where the two disagree in a way that
browsers know too. A packed file whose packing was taken off as a Content-Encoding is what it is
then, and a list of links in a file of no type is one.
Source: WHATWG MIME Sniffing, 7 (feed or HTML) and 8; sitemaps.org; jsonfeed.org.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeGuard, get_args

__all__ = [
    "DOCUMENTS",
    "HEAD_BYTES",
    "DocumentKind",
    "Kind",
    "is_data",
    "is_document",
    "kind_of",
    "may_be_document",
    "may_hold_links",
]

DocumentKind = Literal[
    "css",
    "js",
    "svg",
    "manifest",
    "ld",
    "speculation",
    "pdf",
    "office",
    "xmldoc",
    "playlist",
    "appcache",
]
Kind = Literal["html", "xml", "json", "text", "gzip", ""] | DocumentKind

DOCUMENTS: Final = frozenset(get_args(DocumentKind))

HEAD_BYTES: Final = 2048
"""Of a body are looked at."""

_HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
_UNKNOWN_TYPES: Final = ("unk", "unknown/unknown", "application/unknown", "*/*")
# Of packed files, and of those that a server knows no type of: `binary` is what S3 says then.
_FILE_TYPES: Final = (
    *("application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped"),
    *("application/octet-stream", "binary/octet-stream", "application/x-gzip-compressed"),
    *("application/x-download", "application/download", "application/force-download"),
)
_PACKED_TYPES: Final = (*_FILE_TYPES, "application/xml", "text/xml", "text/plain", "text/html")
_GZIP: Final = b"\x1f\x8b"
_JSON_TYPES: Final = ("application/feed+json", "application/json")
_DOCUMENT_TYPES: Final[dict[str, DocumentKind]] = {
    "text/css": "css",
    "text/javascript": "js",
    "application/javascript": "js",
    "application/x-javascript": "js",
    "text/ecmascript": "js",
    "application/ecmascript": "js",
    "image/svg+xml": "svg",
    "application/manifest+json": "manifest",
    "application/ld+json": "ld",
    "application/speculationrules+json": "speculation",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "application/epub+zip": "office",
    "application/rtf": "office",
    "text/rtf": "office",
    "application/msword": "office",
    "application/vnd.ms-excel": "office",
    "application/vnd.ms-powerpoint": "office",
    "text/xsl": "xmldoc",
    "text/x-opml": "xmldoc",
    "text/cache-manifest": "appcache",
    "application/vnd.apple.mpegurl": "playlist",
    "application/x-mpegurl": "playlist",
    "audio/mpegurl": "playlist",
    "audio/x-mpegurl": "playlist",
    "audio/x-scpls": "playlist",
    "application/dash+xml": "xmldoc",
}
_OFFICE_TYPES: Final = (
    "application/vnd.openxmlformats-officedocument.",
    "application/vnd.oasis.opendocument.",
    *(f"application/vnd.ms-{part}." for part in ("word", "excel", "powerpoint")),
)
_ZIP_TYPES: Final = ("application/zip", "application/x-zip-compressed")
_ZIP: Final = b"PK\x03\x04"
_OFFICE: Final = re.compile(
    rb"PK\x03\x04.{26}(?:\[Content_Types\]\.xml|_rels/|word/|xl/|ppt/|mimetype|content\.xml|META-INF/)",
    re.DOTALL,
)
"""The first file of a ZIP file that is an office document."""

_PDF: Final = b"%PDF-"
_PDF_HEAD: Final = 1024
"""Bytes in which a PDF begins. Source: PDF Reference 1.7, appendix H, note 13."""

_PLAYLIST: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:#EXTM3U|\[playlist\])", re.IGNORECASE)
_OF_AN_APP: Final = re.compile(rb'"(?:short_name|display|start_url)"\s*:')
_MANIFEST: Final = re.compile(rb'"(?:icons|start_url)"\s*:')

# Each step of these has one way to match, so that no body makes them try all ways in turn.
_COMMENT: Final = rb"<!--[^-]*(?:-[^-]+|--+[^->][^-]*)*--+>"
_LOOKS_LIKE_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|" + _COMMENT + rb"|<\?xml[^>]*>)*"
    rb"<(?:!doctype\s+html|html|head|title|body|script|meta|a|table|h1|div|font|br|p|style)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_BEFORE_ROOT: Final = (
    rb"(?:\xef\xbb\xbf)?(?:\s|"
    + _COMMENT
    + rb"|<\?[^?]*(?:\?+[^?>][^?]*)*\?+>|<!(?i:doctype)[^>\[]*>)*"
)
_LOOKS_LIKE_LIST: Final = re.compile(
    _BEFORE_ROOT + rb"<(?:[\w.-]{1,40}:)?(?:rss|feed|entry|rdf|urlset|sitemapindex)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_LOOKS_LIKE_SVG: Final = re.compile(_BEFORE_ROOT + rb"<(?:[\w.-]{1,40}:)?svg[\s>/]", re.DOTALL)
_LOOKS_LIKE_XML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_LOOKS_LIKE_URLS: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*https?://[^\s<>\"]+\s*(?:[\r\n]|\Z)")
_JSON_FEED: Final = re.compile(rb"https?://(?:www\.)?jsonfeed\.org/version/")
_WIDE: Final = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def may_hold_links(media_type: str) -> bool:
    """Return whether a body of a media type is worth a look: images and films are not."""
    return (
        media_type in _HTML_TYPES
        or media_type in _UNKNOWN_TYPES
        or media_type in _PACKED_TYPES
        or media_type in _JSON_TYPES
        or media_type in _DOCUMENT_TYPES
        or media_type in _ZIP_TYPES
        or media_type.endswith(("/xml", "+xml"))
        or media_type.startswith(_OFFICE_TYPES)
    )


def may_be_document(media_type: str) -> bool:
    """Return whether `documents.py` alone reads bodies of a media type."""
    return media_type in _DOCUMENT_TYPES or media_type.startswith(_OFFICE_TYPES)


def is_document(kind: Kind) -> TypeGuard[DocumentKind]:
    """Return whether `documents.py` reads it."""
    return kind in DOCUMENTS


def is_data(media_type: str, body: bytes) -> bool:
    """Return whether a file of no type, sent without an encoding, is neither a list nor packed."""
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
        return "json" if _JSON_FEED.search(head) else _manifest(head)
    document = _document(media_type, head)
    if document:
        return document
    unknown = media_type in _UNKNOWN_TYPES
    plain = media_type == "text/plain" or media_type in _FILE_TYPES
    if plain or unknown or media_type.endswith(("/xml", "+xml")):
        return _by_content(head, unknown=unknown, plain=plain)
    return ""


def _document(media_type: str, head: bytes) -> Kind:
    kind = _DOCUMENT_TYPES.get(media_type)
    if kind is not None:
        return kind
    if media_type.startswith(_OFFICE_TYPES):
        if head.startswith(_ZIP):
            return "office"
        return "xmldoc" if _LOOKS_LIKE_XML.match(head) else ""  # flat OpenDocument
    of_no_type = media_type in _UNKNOWN_TYPES or media_type in _FILE_TYPES
    if (of_no_type and _PDF in head[:_PDF_HEAD]) or (
        media_type == "text/plain" and head.startswith(_PDF)
    ):
        return "pdf"
    if (of_no_type or media_type in _ZIP_TYPES) and _OFFICE.match(head):
        return "office"
    if (of_no_type or media_type == "text/plain") and _PLAYLIST.match(head):
        return "playlist"
    if of_no_type or media_type == "text/plain":
        return _manifest(head) if _OF_AN_APP.search(head) else ""
    return ""


def _manifest(head: bytes) -> Kind:
    return "manifest" if head.lstrip()[:1] == b"{" and _MANIFEST.search(head) else ""


def _by_content(head: bytes, *, unknown: bool, plain: bool) -> Kind:
    for mark, codec in _WIDE:
        if head.startswith(mark):
            head = head[2:].decode(codec, "replace").encode()
    if _LOOKS_LIKE_LIST.match(head):
        return "xml"
    if plain:
        return "text" if _LOOKS_LIKE_URLS.match(head) else ""
    if _LOOKS_LIKE_HTML.match(head[:1024]):
        return "html"  # XHTML comes as `application/xml` too
    if unknown:
        return "text" if _LOOKS_LIKE_URLS.match(head) else ""
    if _LOOKS_LIKE_SVG.match(head):
        return "svg"
    return "xmldoc" if _LOOKS_LIKE_XML.match(head) else ""
