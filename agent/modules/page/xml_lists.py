"""The references of a feed or sitemap in XML, whatever state it is in.

A parser reads it as far as it is XML; from where it is not, a plain search goes on, because one in
ten feeds holds an `&` or an `&nbsp;` that XML forbids. Nothing is loaded and nothing expanded: a
document that declares entities, or nests deeper than a feed can, is left to the search, which
knows neither.

    loc, content_loc, thumbnail_loc, player_loc   of a sitemap, its images and videos
    link guid comments url icon logo uri          text, of RSS, RDF and Atom
    link content a                                href or src
    enclosure thumbnail content player source     url

Element names count without their prefix, which feeds leave undeclared as often as not.
Source: sitemaps.org 0.9; RSS 2.0; RFC 4287 (Atom), 3.1.1.3, 4.1.3.2, 4.2.7; Media RSS 1.5.1.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol
from xml.parsers import expat

from agent.modules.page.tags import start_tags

__all__ = ["Note", "read_xml"]

MAX_DEPTH: Final = 100
MAX_CHARACTERS: Final = 8192  # of a reference; longer ones are none
MAX_CARRIED: Final = 64 * 1024  # characters without a tag, over which a search is carried on

Reference = tuple[str, str]

_IN_TEXT: Final = frozenset(
    (
        *("loc", "content_loc", "thumbnail_loc", "player_loc"),
        *("link", "guid", "comments", "url", "icon", "logo", "uri"),
    )
)
_IN_ATTRIBUTES: Final = {
    "link": ("href",),
    "a": ("href",),
    "content": ("src", "url"),
    "enclosure": ("url",),
    "thumbnail": ("url",),
    "player": ("url",),
    "source": ("url",),
}
# What only the author of a feed may open, and a host that is told of news.
_NOT_FOR_READERS: Final = frozenset(("edit", "edit-media", "hub", "service.post", "service.edit"))
_TEXT_ELEMENT: Final = re.compile(
    r"<(?:[\w.-]{1,40}:)?(loc|link|guid|comments|url|icon|logo|uri)(\s[^<>]{0,400})?>"
    r"\s*(?:<!\[CDATA\[)?\s*([^<>\s]{1,8192})"
)


class Note(Protocol):
    """What the reader says of the document as a whole."""

    index: bool
    note: str


class _LeftToSearchError(Exception):
    """The document does what no feed does; `args[0]` says what."""


def read_xml(pieces: Iterable[str], about: Note) -> Iterator[Reference]:
    """Yield the references of a document and their `xml:base`, and say in `about` what it is."""
    reader = _Reader(about)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.EntityDeclHandler = reader.entity
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
        yield from _searched(piece, rest)


class _Reader:
    """Takes the parser's events, keeps references until they are asked for."""

    def __init__(self, about: Note) -> None:
        self._about = about
        self._depth = 0
        self._wanted = ""  # the open element whose text is a reference
        self._text: list[str] = []
        self._length = 0
        self._bases: list[tuple[int, str]] = [(0, "")]
        self._found: list[Reference] = []

    def take(self) -> list[Reference]:
        """Return what was found since the last call."""
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
                self._bases.append((self._depth, base))
            for reference in _of_attributes(local, attributes):
                self._found.append((reference, self._bases[-1][1]))
        if local in _IN_TEXT and attributes.get("isPermaLink") != "false":
            self._wanted = local

    def end(self, name: str) -> None:
        """An element ends."""
        if self._wanted:
            reference = "".join(self._text).strip()
            if reference and self._length <= MAX_CHARACTERS and _is_one(self._wanted, reference):
                self._found.append((reference, self._bases[-1][1]))
            self._wanted = ""
        if self._bases[-1][0] == self._depth:
            self._bases.pop()
        self._depth -= 1

    def characters(self, text: str) -> None:
        """Text stands in the open element."""
        if self._wanted and self._length <= MAX_CHARACTERS:
            self._text.append(text)
            self._length += len(text)

    def entity(self, *declared: object) -> None:
        """An entity is declared: no feed needs one, and a bomb does."""
        raise _LeftToSearchError("declares entities")


def _of_attributes(local: str, attributes: Mapping[str, str]) -> Iterator[str]:
    for name in _IN_ATTRIBUTES.get(local, ()):
        reference = attributes.get(name, "").strip()
        relations = attributes.get("rel", "").lower().split()
        if reference and _NOT_FOR_READERS.isdisjoint(relations):
            yield reference


def _is_one(local: str, text: str) -> bool:
    """Tell whether a text is a reference: a `guid` may be any identifier."""
    return local != "guid" or text.startswith(("http://", "https://"))


def _searched(first: str, rest: Iterator[str]) -> Iterator[Reference]:
    """Yield what looks like a reference; a tag that a piece cuts is read with the next one."""
    carried = first
    for piece in rest:
        whole = carried.rfind("<")
        yield from _search(carried[: max(0, whole)])
        carried = carried[max(0, whole) :][-MAX_CARRIED:] + piece
    yield from _search(carried)


def _search(text: str) -> Iterator[Reference]:
    for match in _TEXT_ELEMENT.finditer(text):
        local, attributes, reference = match.groups()
        named_only = '"false"' in (attributes or "")
        reference = html.unescape(reference.removesuffix("]]"))
        if not named_only and _is_one(local, reference):
            yield reference, ""
    for name, values in start_tags(text):
        for reference in _of_attributes(name.rpartition(":")[2], values):
            yield reference, ""
