"""Reads the references of documents in XML that are no pages, feeds or sitemaps, and of line lists.

    <?xml-stylesheet href="a.xsl"?>                      of any document in XML
    <xsl:import href="b.xsl">, <xi:include href="c.xml">
    <square150x150logo src="d.png">, <polling-uri src>   browserconfig.xml
    <outline xmlUrl="e.xml" htmlUrl="/f">                OPML
    <Url template="/g">, <Image>                         OpenSearch, where nothing is left open
    <location>h.mp3</location>                           XSPF
    xlink:href                                           anywhere
    i.ts, URI="j.key"                                    M3U playlists
    k.js                                                 cache manifests (`<html manifest=>`)

Read by a search for tags, so that broken XML is read too; nothing is expanded or loaded.
Source: xml-stylesheet 1.0; XSLT 1.0, 2.6; XInclude 1.1; OPML 2.0; OpenSearch 1.1; XSPF 1; RFC 8216.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from agent.modules.page.further_links import Reference
from agent.modules.page.tags import start_tags
from agent.pipeline.link_kinds import EMBEDDED, LinkKind

__all__ = ["cached_references", "playlist_references", "stylesheet_of_xml", "xml_references"]

_STYLE: Final = LinkKind.STYLE | EMBEDDED
_TILE: Final = LinkKind.MANIFEST | EMBEDDED
_MEDIA: Final = LinkKind.MEDIA | EMBEDDED
_HEAD: Final = 4096  # characters in which an xml-stylesheet stands

_STYLESHEET: Final = re.compile(
    r"<\?xml-stylesheet\s[^?]{0,1000}?\bhref\s*=\s*[\"']([^\"']{1,8192})"
)
_ATTRIBUTES: Final[dict[str, tuple[tuple[str, ...], int]]] = {
    "import": (("href",), _STYLE),
    "include": (("href",), _STYLE),
    "outline": (("xmlurl", "htmlurl", "url"), int(LinkKind.FEED)),
    "url": (("template",), int(LinkKind.LINK)),
    "square70x70logo": (("src",), _TILE),
    "square150x150logo": (("src",), _TILE),
    "square310x310logo": (("src",), _TILE),
    "wide310x150logo": (("src",), _TILE),
    "tileimage": (("src",), _TILE),
    "badge": (("src",), _TILE),
    **{f"polling-uri{number}": (("src",), _TILE) for number in ("", 2, 3, 4, 5)},
}
_TEXT: Final = re.compile(
    r"<(?:[\w.-]{1,40}:)?(Image|location)(?:\s[^<>]{0,400})?>\s*([^<>\s]{1,8192})\s*</"
)
_TO_FILL_IN: Final = re.compile(r"[{}]")
_KEY: Final = re.compile(r"\bURI=\"([^\"]{1,8192})\"")


def stylesheet_of_xml(text: str) -> Iterator[Reference]:
    """Yield the style sheets that a document in XML names before its first element."""
    for match in _STYLESHEET.finditer(text[:_HEAD]):
        yield html.unescape(match[1]), _STYLE


def xml_references(text: str) -> Iterator[Reference]:
    """Yield the references of a document in XML."""
    yield from stylesheet_of_xml(text)
    for tag, attributes in start_tags(text):
        linked = attributes.get("xlink:href", "")
        if linked and linked[0] != "#":
            yield linked, LinkKind.SVG
        names, kind = _ATTRIBUTES.get(tag.rpartition(":")[2], ((), 0))
        for name in names:
            value = attributes.get(name, "").strip()
            if value and not _TO_FILL_IN.search(value):
                yield value, kind
    for match in _TEXT.finditer(text):
        yield html.unescape(match[2]), _TILE if match[1] == "Image" else _MEDIA


def playlist_references(text: str) -> Iterator[Reference]:
    """Yield the pieces, variants and keys of an M3U playlist."""
    for written in text.splitlines():
        line = written.strip().removeprefix("\ufeff")
        if line.startswith("#"):
            for match in _KEY.finditer(line):
                yield match[1], _MEDIA
        elif line:
            yield line, _MEDIA


def cached_references(text: str) -> Iterator[Reference]:
    """Yield the files of a cache manifest: those to keep, and those to fall back on.

    Source: HTML 5.1, 7.8.3 (cache manifest syntax).
    """
    section = "CACHE:"
    for line in text.splitlines()[1:]:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0].endswith(":") and words[0].isupper():
            section = words[0]
        elif section == "CACHE:":
            yield words[0], _TILE
        elif section == "FALLBACK:" and len(words) > 1:
            yield words[1], _TILE
