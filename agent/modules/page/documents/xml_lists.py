"""The references of a feed or sitemap in XML, well-formed or not.

A parser reads the part that is XML; from the first error on, a plain search continues, because one
in ten feeds holds an `&` or an `&nbsp;` that XML forbids. Nothing is loaded and nothing expanded: a
document that declares entities, or nests deeper than a feed can, is left to the search, which
knows neither.

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

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol
from xml.parsers import expat

from agent.modules.page.addresses import joined
from agent.modules.page.documents.xml_parser import xml_parser
from agent.modules.page.html.srcset import srcset_urls
from agent.modules.page.html.tags import start_tags

__all__ = ["Note", "Within", "read_xml"]

MAX_DEPTH: Final = 100
MAX_CHARACTERS: Final = 8192  # of a reference; longer ones are none
MAX_CARRIED: Final = 64 * 1024  # characters without a tag, over which a search is carried on

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
_TEXT_ELEMENT: Final = re.compile(
    rf"<(?:[\w.-]{{1,40}}:)?({'|'.join(sorted(_IN_TEXT))})(\s[^<>]{{0,400}})?>"
    r"\s*(?:<!\[CDATA\[)?\s*([^<>\s]{1,8192})"
)
_HTML_ELEMENT: Final = re.compile(
    rf"<(?:[\w.-]{{1,40}}:)?({'|'.join(sorted(_HTML))})(?:\s[^<>]{{0,400}})?>"
    r"\s*(?:<!\[CDATA\[(.*?)(?:\]\]>|\Z)|([^<]+))",
    re.DOTALL,
)
_ROOT_BASE: Final = re.compile(r"<[^<>!?]{1,2000}?\sxml:base\s*=\s*[\"']([^\"'<>]{1,8192})")
_ROOT: Final = re.compile(r"<[A-Za-z_]")
MAX_SEARCHED: Final = 8_000_000  # characters in which HTML is searched for


class Note(Protocol):
    """Properties of the document as a whole."""

    index: bool
    note: str


class _LeftToSearchError(Exception):
    """The document does what no feed does; `args[0]` says what."""


Within = Callable[[str], Iterable[str]]
"""Reads the references of HTML."""


def read_xml(
    pieces: Iterable[str], about: Note, url: str = "", within: Within = lambda _: ()
) -> Iterator[Reference]:
    """Yield the references of a document and their `xml:base`, and say in `about` what it is.

    url: of the document. within: reads the HTML that it holds as text.
    """
    reader = _Reader(about, url, within)
    parser = xml_parser(reader)
    rest = iter(pieces)
    piece = ""
    try:
        for piece in rest:
            parser.Parse(piece.encode("utf-8", "replace"), False)
            yield from reader.take()
        piece = ""
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        about.note = f"parse-simple: XML is broken in line {error.lineno}"
    except _LeftToSearchError as error:
        about.note = f"parse-simple: XML {error}"
    yield from reader.take()
    if about.note:
        base = reader.root_base(piece)
        for reference in _searched(piece, rest, within):
            yield reference, base


class _Reader:
    """Takes the parser's events, keeps references until they are asked for."""

    def __init__(self, about: Note, url: str, within: Within) -> None:
        self._about = about
        self._url = url
        self._within = within
        self._depth = 0
        self._wanted = ""  # the open element whose text is a reference
        self._text: list[str] = []
        self._length = 0
        self._most = MAX_CHARACTERS
        self._bases: list[tuple[int, str]] = [(0, "")]
        self._found: list[Reference] = []

    def root_base(self, piece: str) -> str:
        """Return the `xml:base` of the root. piece: in which reading stopped."""
        if len(self._bases) > 1 and self._bases[1][0] == 1:
            return self._bases[1][1]
        root = _ROOT.search(piece)
        match = _ROOT_BASE.match(piece, root.start()) if root and self._depth <= 1 else None
        return joined(self._url, html.unescape(match[1])) if match else ""

    def take(self) -> list[Reference]:
        """Return the references since the last call."""
        found, self._found = self._found, []
        return found

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _LeftToSearchError(f"nested deeper than {MAX_DEPTH}")
        local = name.rpartition(":")[2]
        if self._depth == 1:
            self._about.index = local.lower() == "sitemapindex"
        self._wanted = ""
        self._text.clear()
        self._length = 0
        if attributes:
            base = attributes.get("xml:base")
            if base is not None:
                around = self._bases[-1][1] or self._url
                self._bases.append((self._depth, joined(around, base)))
            for reference in _of_attributes(local, attributes):
                self._found.append((reference, self._bases[-1][1]))
        if local in _IN_TEXT and attributes.get("isPermaLink") != "false":
            self._wanted, self._most = local, MAX_CHARACTERS
        elif local in _HTML and attributes.get("type") != "text":
            self._wanted, self._most = local, MAX_HTML

    def end(self, name: str) -> None:
        """An element ends."""
        if self._wanted:
            text = "".join(self._text).strip()
            base = self._bases[-1][1]
            if self._wanted in _HTML:
                if "<" in text:
                    self._found += ((one, base) for one in self._within(text))
            elif text and self._length <= MAX_CHARACTERS and _is_one(self._wanted, text):
                self._found.append((text, base))
            self._wanted = ""
        if self._bases[-1][0] == self._depth:
            self._bases.pop()
        self._depth -= 1

    def characters(self, text: str) -> None:
        """Text stands in the open element."""
        if self._wanted and self._length <= self._most:
            self._text.append(text)
            self._length += len(text)

    def entity(self, *declared: object) -> None:
        """An entity is declared: no feed needs one, and a bomb does."""
        raise _LeftToSearchError("declares entities")


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


def _is_one(local: str, text: str) -> bool:
    """Return whether a text is a reference: a `guid` may be any identifier."""
    return local not in _WHOLE_ONLY or text.startswith(("http://", "https://"))


def _searched(first: str, rest: Iterator[str], within: Within) -> Iterator[str]:
    """Yield what looks like a reference; a tag that a piece cuts is read with the next one."""
    carried = first
    kept, length = [first], len(first)
    for piece in rest:
        whole = carried.rfind("<")
        yield from _search(carried[: max(0, whole)])
        carried = carried[max(0, whole) :][-MAX_CARRIED:] + piece
        if length < MAX_SEARCHED:
            kept.append(piece)
            length += len(piece)
    yield from _search(carried)
    for match in _HTML_ELEMENT.finditer("".join(kept)):
        text = (match[2] or html.unescape(match[3] or ""))[:MAX_HTML]
        if "<" in text:
            yield from within(text)


def _search(text: str) -> Iterator[str]:
    for match in _TEXT_ELEMENT.finditer(text):
        local, attributes, reference = match.groups()
        named_only = '"false"' in (attributes or "")
        reference = html.unescape(reference.removesuffix("]]"))
        if not named_only and _is_one(local, reference):
            yield reference
    for name, values in start_tags(text):
        yield from _of_attributes(name.rpartition(":")[2], values)
