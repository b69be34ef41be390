"""Reads the references of documents in XML that are no pages, feeds or sitemaps, and of line lists.

    <?xml-stylesheet href="a.xsl"?>                      of any document in XML
    <xsl:import href="b.xsl">, <xi:include href="c.xml">
    <square150x150logo src="d.png">, <polling-uri src>   browserconfig.xml
    <outline xmlUrl="e.xml" htmlUrl="/f">                OPML
    <Url template="/g">, <Image>                         OpenSearch, where nothing is left open
    <location>h.mp3</location>                           XSPF
    xlink:href, href, src; <href>http://...</href>       of any other, as KML, GPX, SMIL, ASX
    i.ts, URI="j.key", {$variable}                       M3U playlists; File1=l.mp3: PLS
    k.js                                                 cache manifests (`<html manifest=>`)

Read by `xml_elements`, so that broken XML is read too; nothing is expanded or loaded.
References are meant against the `xml:base` around them.
Source: XML Base 1.1; xml-stylesheet 1.0; XSLT 1.0, 2.6; XInclude 1.1; OPML 2.0; OpenSearch 1.1;
XSPF 1; RFC 8216.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from agent.modules.page.addresses import joined
from agent.modules.page.documents.xml_elements import XmlElement, xml_elements
from agent.modules.page.html.text_links import Reference
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
_TEXTS: Final[dict[str, int]] = {
    "image": _TILE,
    "location": _MEDIA,
    **dict.fromkeys(("href", "link", "loc", "uri", "url", "searchform"), int(LinkKind.LINK)),
}
"""Elements whose text is an address; those of no known vocabulary only where it is a whole one."""

_WHOLE: Final = ("http://", "https://", "//")
_TO_FILL_IN: Final = re.compile(r"[{}]")
_KEY: Final = re.compile(
    r"\b(?:URI|X-ASSET-LIST|tvg-logo|url-tvg|x-tvg-url|group-logo)=\"([^\"]{1,8192})\""
)
_VARIABLE: Final = re.compile(r"\{\$([A-Za-z0-9_-]{1,100})\}")
_NAME: Final = re.compile(r"\bNAME=\"([^\"]{1,100})\"")
_VALUE: Final = re.compile(r"\bVALUE=\"([^\"]{0,2000})\"")
_MOST_VALUES: Final = 100
_PLS_FILE: Final = re.compile(
    r"^File[0-9]{1,6}[ \t]*=([^\r\n]{1,8192})", re.MULTILINE | re.IGNORECASE
)


def stylesheet_of_xml(text: str) -> Iterator[Reference]:
    """Yield the style sheets that a document in XML names before its first element."""
    for match in _STYLESHEET.finditer(text[:_HEAD]):
        yield html.unescape(match[1]), _STYLE


def xml_references(text: str, url: str) -> Iterator[Reference]:
    """Yield the references of a document in XML at a URL."""
    yield from stylesheet_of_xml(text)
    for element in xml_elements((text,), url):
        for reference, kind in _of_element(element):
            if reference and not _TO_FILL_IN.search(reference):
                yield joined(element.base, reference), kind


def _of_element(element: XmlElement) -> Iterator[Reference]:
    local = element.local.lower()
    names, kind = _ATTRIBUTES.get(local, ((), 0))
    for key, written in element.attributes.items():
        name, value = key.lower(), written.strip()
        if name in names:
            yield value, kind
        elif name == "xlink:href":
            if value[:1] != "#":
                yield value, LinkKind.SVG
        elif name == "href":
            if value[:1] != "#":
                yield value, LinkKind.LINK
        elif name == "src":
            yield value, _MEDIA
    text_kind = _TEXTS.get(local)
    if text_kind is not None and not element.is_cut:
        value = element.text()
        if value.startswith(_WHOLE) or (text_kind != LinkKind.LINK and len(value.split()) == 1):
            yield value, text_kind


def playlist_references(text: str) -> Iterator[Reference]:
    """Yield the pieces, variants, keys and pictures of an M3U playlist, or the files of a PLS."""
    if text.lstrip("\ufeff \t\r\n")[:10].lower() == "[playlist]":
        for match in _PLS_FILE.finditer(text):
            yield match[1].strip(), _MEDIA
        return
    values: dict[str, str] = {}
    for written in text.splitlines():
        line = written.strip().removeprefix("\ufeff")
        if "{$" in line:
            line = _VARIABLE.sub(lambda match: values.get(match[1], match[0]), line)
            if "{$" in line:
                continue
        if line.startswith("#EXT-X-DEFINE:"):
            name, value = _NAME.search(line), _VALUE.search(line)
            if name and value and len(values) < _MOST_VALUES:
                values[name[1]] = value[1]
        elif line.startswith("#"):
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
