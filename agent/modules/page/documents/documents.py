"""The links of documents that are neither pages nor lists: each kind of them by its reader.

    css       style sheets: url(), @import, sourceMappingURL
    js        scripts: modules, sourceMappingURL, strings that are clearly paths
    svg       drawings: href, xlink:href, styles, xml-stylesheet
    manifest  web app manifests: icons and start page; ld: JSON-LD; speculation: speculation rules
    xmldoc    other documents in XML; playlist: M3U; appcache: cache manifests (xml_documents.py);
              dash.py reads those of DASH
    pdf       pdf.py; office: office.py

A path in a script is meant against the page that loads it; of those that do not begin at the top,
that page is not known here, so they are left out, but for imported modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agent.modules.limits import PageLimits
from agent.modules.page.addresses import joined
from agent.modules.page.body_kinds import DocumentKind
from agent.modules.page.documents.dash import dash_references, is_dash
from agent.modules.page.documents.office import office_references
from agent.modules.page.documents.pdf import pdf_references
from agent.modules.page.documents.xml_documents import (
    cached_references,
    playlist_references,
    stylesheet_of_xml,
    xml_references,
)
from agent.modules.page.documents.xml_elements import xml_elements
from agent.modules.page.encodings import decoded
from agent.modules.page.html.complex_elements import read_complex_elements
from agent.modules.page.html.complex_links import complex_references
from agent.modules.page.html.json_addresses import (
    data_addresses,
    manifest_addresses,
    parsed,
)
from agent.modules.page.html.script_strings import modules_of, strings_of
from agent.modules.page.html.style_sheets import style_references
from agent.modules.page.html.text_links import (
    Reference,
    source_map_reference,
    text_references,
    with_kind,
)
from agent.pipeline.link_kinds import EMBEDDED, LinkKind

__all__ = ["document_references"]

MOST_SCRIPT_CHARACTERS: Final = 5_000_000
_STYLE: Final = LinkKind.STYLE | EMBEDDED
_SPECULATION: Final = {"type": "speculationrules"}


def document_references(
    kind: DocumentKind, body: bytes, codec: str, limits: PageLimits, url: str
) -> tuple[list[Reference], str]:
    """Return the references of a document with their kinds, and a note.

    codec: of the body, where it is text. url: of the document.
    """
    if kind == "pdf":
        found, note = pdf_references(body, limits.document_cpu_s)
        return [(one, LinkKind.PDF) for one in found], note
    if kind == "office":
        found, note = office_references(body)
        return [(one, LinkKind.OFFICE) for one in found], note
    text = decoded(body, codec)
    return [one for one in _of_text(kind, text, url) if one[0]], ""


def _of_text(kind: DocumentKind, text: str, url: str) -> Iterator[Reference]:
    match kind:
        case "css":
            yield from text_references("style", {}, text, lambda _text, _kind: ())
        case "js":
            text = text[:MOST_SCRIPT_CHARACTERS]
            yield from with_kind(modules_of(text), LinkKind.SCRIPT | EMBEDDED)
            for reference in strings_of(text):
                if reference[:1] == "/" or "://" in reference:
                    yield reference, LinkKind.STRING
            yield from source_map_reference(text)
        case "svg":
            yield from stylesheet_of_xml(text)
            yield from _drawn(text, url)
            yield from complex_references(read_complex_elements(text), lambda _text, _kind: ())
        case "xmldoc":
            if is_dash(text):
                yield from with_kind(dash_references(text, url), LinkKind.MEDIA | EMBEDDED)
            yield from xml_references(text, url)
        case "playlist":
            yield from playlist_references(text)
        case "appcache":
            yield from cached_references(text)
        case "manifest":
            for reference, is_image in manifest_addresses(parsed(text)):
                yield reference, LinkKind.MANIFEST | (EMBEDDED if is_image else 0)
        case "speculation":
            yield from text_references("script", _SPECULATION, text, lambda _text, _kind: ())
        case _:
            for reference, is_shown in data_addresses(parsed(text)):
                yield reference, LinkKind.JSON_LD | (EMBEDDED if is_shown else 0)


def _drawn(text: str, url: str) -> Iterator[Reference]:
    """Yield what the elements of a drawing lead to, whatever prefixes their names have.

    Against `xml:base`, and without it: SVG 1.1 says so, and browsers have given it up.
    """
    for element in xml_elements((text,), url):
        for reference, kind in _of_drawing(element.local.lower(), element.attributes):
            if element.base:
                yield joined(element.base, reference), kind
            yield reference, kind


def _of_drawing(local: str, attributes: Mapping[str, str]) -> Iterator[Reference]:
    for written, value in attributes.items():
        name = written.lower()
        if name == "href" or name.endswith(":href"):
            if value[:1] != "#":
                yield value, LinkKind.SVG | (0 if local == "a" else EMBEDDED)
        elif name == "src" and local in ("img", "iframe", "audio", "video", "script", "embed"):
            yield value, LinkKind.SVG | EMBEDDED
        elif "url(" in value and name != "style":
            for reference in style_references(value):
                if reference[:1] != "#":
                    yield reference, _STYLE
