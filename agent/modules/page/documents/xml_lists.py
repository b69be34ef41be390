"""The references of a feed or sitemap in XML, well-formed or not.

A parser reads what is XML. A document in which it finds an error is read by `xml_elements`, because
one in ten feeds holds an `&` or an `&nbsp;` that XML forbids. Nothing is loaded and nothing
expanded: so is one that declares entities, or nests deeper than a feed can. docs/adr/0197 compares
this with lxml.

    loc, content_loc, thumbnail_loc, player_loc   of a sitemap, its images and videos
    link guid comments url icon logo uri          text, of RSS, RDF and Atom
    link content image, enclosure thumbnail ...   href, src or url, as `_IN_ATTRIBUTES` says
    description content:encoded summary ...       HTML, escaped or in CDATA: what it leads to
    a img iframe ...                              XHTML among the elements of a feed

References are meant against the `xml:base` around them. Element names count without their prefix,
which feeds leave undeclared as often as not.
Source: sitemaps.org 0.9; RSS 2.0; RFC 4287 (Atom), 3.1.1.3, 4.1.3.2, 4.2.7; Media RSS 1.5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from agent.modules.page.addresses import joined
from agent.modules.page.documents.xml_elements import xml_elements
from agent.modules.page.html.attribute_values import srcset_urls

__all__ = ["Listed", "Pieces", "Reference", "Within", "read_xml", "references_of"]

MAX_DEPTH: Final = 100
MAX_CHARACTERS: Final = 8192  # of a reference; longer ones are none

Reference = tuple[str, str]

_IN_TEXT: Final = frozenset(
    (
        *("loc", "content_loc", "thumbnail_loc", "player_loc", "gallery_loc"),
        *("link", "guid", "comments", "url", "icon", "logo", "uri", "docs", "license"),
        *("commentRss", "origLink", "origEnclosureLink", "new-feed-url", "backLink"),
    )
)
_WHOLE_ONLY: Final = frozenset(("guid", "license", "backLink"))
"""Elements whose text may be no address at all."""

_IN_ATTRIBUTES: Final = {
    "link": ("href",),
    "content": ("src", "url"),
    "image": ("href", "rdf:resource"),
    "enclosure": ("url", "href", "rdf:resource"),
    "thumbnail": ("url", "href"),
    "player": ("url",),
    "source": ("url", "src", "uri", "srcset"),
    "subTitle": ("href",),
    "peerLink": ("href",),
    "license": ("href", "rdf:resource"),
    "embed": ("url", "src"),
    "transcript": ("url",),
    "chapters": ("url",),
    "funding": ("url",),
    "trailer": ("url",),
    "person": ("href", "img"),
    "generator": ("uri",),
    "li": ("rdf:resource", "resource"),
    # XHTML
    **dict.fromkeys(("a", "area"), ("href",)),
    "img": ("src", "srcset"),
    "video": ("src", "poster"),
    **dict.fromkeys(("iframe", "audio", "track", "script"), ("src",)),
    "object": ("data",),
}
_HTML: Final = frozenset(
    (
        *("description", "encoded", "content", "summary", "title", "subtitle", "rights", "text"),
        *("fullitem", "tagline", "info", "copyright", "body"),
    )
)
"""Elements whose text may be HTML."""

MAX_HTML: Final = 1_000_000  # characters, of one element
# Links that only the author of a feed may open, and a host that receives news.
_NOT_FOR_READERS: Final = frozenset(("edit", "edit-media", "hub", "service.post", "service.edit"))
_READ: Final = _IN_TEXT | _HTML | _IN_ATTRIBUTES.keys()


@dataclass(slots=True)
class Listed:
    """Links of a list. `urls` are canonical, each once, in the order of the list."""

    urls: dict[str, None] = field(default_factory=dict)
    index: bool = False  # they are sitemaps
    cut: bool = False  # there were more
    note: str = ""


class _NoListError(Exception):
    """The document does what no feed does; `args[0]` says what."""


Pieces = Callable[[], Iterable[str]]
"""Returns the text of a document from its beginning, in pieces."""

Within = Callable[[str], Iterable[str]]
"""Reads the references of HTML."""


def read_xml(
    pieces: Pieces, about: Listed, url: str = "", within: Within = lambda _: ()
) -> Iterator[Reference]:
    """Yield the references of a document and their `xml:base`, and say in `about` what it is.

    url: of the document. within: reads the HTML that it holds as text. What the parser read of a
    document that is not well-formed is yielded again by the search.
    """
    reader = _Reader(about, url, within)
    parser = reader.parser()
    try:
        for piece in pieces():
            parser.Parse(piece.encode("utf-8", "replace"), False)
            yield from reader.take()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        about.note = f"parse-simple: XML is broken in line {error.lineno}"
    except _NoListError as error:
        about.note = f"parse-simple: XML {error}"
    yield from reader.take()
    if about.note:
        yield from _searched(pieces(), about, url, within)


def _searched(
    pieces: Iterable[str], about: Listed, url: str, within: Within
) -> Iterator[Reference]:
    is_first = True
    for element in xml_elements(pieces, url):
        local = element.local
        if is_first:
            about.index = local.lower() == "sitemapindex"
            is_first = False
        if local in _READ:
            is_whole = not element.is_cut or local in _HTML  # half an address is another one
            text = element.text() if is_whole else ""
            for reference in references_of(local, element.attributes, text, within):
                yield reference, element.base


class _Reader:
    """Takes the events of a parser; holds references until they are taken."""

    def __init__(self, about: Listed, url: str, within: Within) -> None:
        self._about = about
        self._url = url
        self._within = within
        self._depth = 0
        self._open: tuple[str, dict[str, str]] | None = None  # the element whose text is read
        self._text: list[str] = []
        self._length = 0
        self._bases: list[tuple[int, str]] = [(0, "")]
        self._found: list[Reference] = []

    def parser(self) -> expat.XMLParserType:
        """Return a parser of UTF-8 that gives its events to this reader; it loads nothing.

        Source: CWE-611 (external entities), CWE-776 (entities that expand).
        """
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        return parser

    def take(self) -> list[Reference]:
        """Return the references since the last call."""
        found, self._found = self._found, []
        return found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._open is not None:
            self._close_text(*self._open)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _NoListError(f"nested deeper than {MAX_DEPTH}")
        local = name.rpartition(":")[2]
        if self._depth == 1:
            self._about.index = local.lower() == "sitemapindex"
        if attributes:
            base = attributes.get("xml:base")
            if base is not None:
                around = self._bases[-1][1] or self._url
                self._bases.append((self._depth, joined(around, base)))
            for reference in _of_attributes(local, attributes):
                self._found.append((reference, self._bases[-1][1]))
        if local in _IN_TEXT or local in _HTML:
            self._open = local, attributes

    def _end(self, name: str) -> None:
        if self._open is not None:
            self._close_text(*self._open)
        if self._bases[-1][0] == self._depth:
            self._bases.pop()
        self._depth -= 1

    def _characters(self, text: str) -> None:
        if self._open is not None and self._length <= MAX_HTML:
            self._text.append(text)
            self._length += len(text)

    def _entity(self, *declared: object) -> None:
        raise _NoListError("declares entities")  # no feed needs one, and a bomb does

    def _close_text(self, local: str, attributes: dict[str, str]) -> None:
        base = self._bases[-1][1]
        for reference in _of_text(local, attributes, "".join(self._text).strip(), self._within):
            self._found.append((reference, base))
        self._open = None
        self._text.clear()
        self._length = 0


def references_of(
    local: str, attributes: Mapping[str, str], text: str, within: Within
) -> Iterator[str]:
    """Yield the references of an element by its name without prefix."""
    yield from _of_attributes(local, attributes)
    yield from _of_text(local, attributes, text, within)


def _of_attributes(local: str, attributes: Mapping[str, str]) -> Iterator[str]:
    for name in _IN_ATTRIBUTES.get(local, ()):
        reference = attributes.get(name, "").strip()
        relations = attributes.get("rel", "").lower().split()
        if not reference or not _NOT_FOR_READERS.isdisjoint(relations):
            continue
        if name == "srcset":
            yield from srcset_urls(reference)
        else:
            yield reference


def _of_text(local: str, attributes: Mapping[str, str], text: str, within: Within) -> Iterable[str]:
    """Return the references of an element's text: it is one, or HTML that holds some."""
    if local in _HTML:
        is_html = "<" in text and attributes.get("type") != "text"
        return within(text[:MAX_HTML]) if is_html else ()
    if local not in _IN_TEXT or not 0 < len(text) <= MAX_CHARACTERS:
        return ()
    if attributes.get("isPermaLink") == "false":
        return ()
    return () if local in _WHOLE_ONLY and not text.startswith(("http://", "https://")) else (text,)
