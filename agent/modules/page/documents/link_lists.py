"""Reads documents that are lists of links: sitemaps and feeds, in XML, JSON or plain text.

Invariant: bounded whatever comes: at most `max_links` references of at most 8,192 characters, and
an index of sitemaps is distinguished, because it leads to lists and not to pages.
Leaves to others: whether a URL is ours (filter), and what a body is (`kinds`).
Source: sitemaps.org 0.9 (50,000 URLs a file, an index holds no index); jsonfeed.org 1.1.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from agent.modules.page.addresses import Addresses
from agent.modules.page.body_kinds import HEAD_BYTES, Kind, kind_of
from agent.modules.page.documents.xml_lists import Listed, Within, read_xml
from agent.modules.page.encodings import decoded, is_unicode
from agent.modules.page.encodings.charset import charset_of
from shared.archive.content_coding import decode_content

__all__ = ["MAX_LIST_BYTES", "list_of"]

MAX_LIST_BYTES: Final = 50_000_000
"""Decoded bytes of a sitemap, however few were sent. Source: sitemaps.org says 50 MB."""

PIECE_BYTES: Final = 64 * 1024
_URL_LINE: Final = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(https?://[^\s<>\"]{1,8192})", re.MULTILINE
)
MAX_JSON_BYTES: Final = 5_000_000  # it becomes objects, ten times as large
_TOP_FIELDS: Final = ("home_page_url", "feed_url", "next_url", "icon", "favicon")
_ITEM_FIELDS: Final = ("url", "external_url", "image", "banner_image")


def list_of(
    kind: Kind,
    body: bytes,
    content_type: str,
    url: str,
    max_links: int,
    within: Within = lambda _: (),
) -> Listed:
    """Return the links of a document of a kind other than HTML, found at a canonical URL.

    within: reads the HTML that a feed holds as text.
    """
    if kind == "gzip":
        return _packed(body, content_type, url, max_links, within)
    listed = Listed()
    try:
        references = _references(kind, body, content_type, listed, url, within)
        base, addresses = "", Addresses(url, "utf-8")
        for reference, its_base in references:
            if its_base != base:
                base = its_base
                addresses = Addresses(Addresses(url, "utf-8").resolve(base) or url, "utf-8")
            target = addresses.resolve(reference)
            if target is None or target in listed.urls:
                continue
            if len(listed.urls) >= max_links:
                listed.cut = True
                break
            listed.urls[target] = None
    except (ValueError, RecursionError) as error:  # of JSON; XML is read by any means
        listed.note = f"parse-error: {type(error).__name__}"
    return listed


def _packed(body: bytes, content_type: str, url: str, max_links: int, within: Within) -> Listed:
    # The head first: most packed files are plain data, not worth fifty megabytes.
    head = decode_content(body, "gzip", HEAD_BYTES).body
    inner = kind_of("text/plain", head)
    if inner not in ("xml", "text"):
        return Listed()
    decoded = decode_content(body, "gzip", MAX_LIST_BYTES)
    listed = list_of(inner, decoded.body, content_type, url, max_links, within)
    listed.note = "; ".join(filter(None, (decoded.note, listed.note)))
    return listed


def _references(
    kind: Kind, body: bytes, content_type: str, listed: Listed, url: str, within: Within
) -> Iterator[tuple[str, str]]:
    """Yield (reference, base): as written, and against what beside the document's own URL."""
    if kind == "json":
        for reference in _json(body, within):
            yield reference, ""
        return
    codec = charset_of(body, content_type)
    if kind == "text":
        if codec.startswith("utf-16"):
            body, codec = decoded(body, codec).encode(), "utf-8"
        for match in _URL_LINE.finditer(body):
            yield decoded(match[1], codec), ""
        return
    yield from read_xml(partial(_pieces, body, codec), listed, url, within)


def _pieces(body: bytes, codec: str) -> Iterator[str]:
    if is_unicode(codec):
        decoder = codecs.getincrementaldecoder(codec)("replace")
        for at in range(0, len(body), PIECE_BYTES):
            text = decoder.decode(body[at : at + PIECE_BYTES], at + PIECE_BYTES >= len(body))
            yield text if at else text.removeprefix("\ufeff")
        return
    text = decoded(body, codec)
    for at in range(0, len(text), PIECE_BYTES):
        yield text[at : at + PIECE_BYTES]


def _json(body: bytes, within: Within) -> Iterator[str]:
    if len(body) > MAX_JSON_BYTES:
        raise ValueError(f"{len(body)} bytes of JSON, at most {MAX_JSON_BYTES} are read")
    feed = json.loads(body.decode("utf-8-sig", "replace"))
    yield from _texts(feed, _TOP_FIELDS)
    for item in _parts(feed, "items"):
        yield from _texts(item, _ITEM_FIELDS)
        for text in _texts(item, ("content_html",)):
            yield from within(text) if "<" in text else ()
        for part in _parts(item, "attachments"):
            yield from _texts(part, ("url",))
        yield from _of_authors(item)
    yield from _of_authors(feed)


def _of_authors(value: Any) -> Iterator[str]:
    """Yield the pages and pictures of authors; version 1 has one `author`."""
    first = value.get("author") if isinstance(value, dict) else None
    for author in [first, *_parts(value, "authors")]:
        yield from _texts(author, ("url", "avatar"))


def _parts(value: Any, name: str) -> list[Any]:
    parts = value.get(name) if isinstance(value, dict) else None
    return parts if isinstance(parts, list) else []


def _texts(value: Any, names: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, dict):
        for name in names:
            text = value.get(name)
            if isinstance(text, str) and text.strip():
                yield text.strip()
